/**
 * What opens every gate that is closed, as the shortest list of commands: one for the route, one
 * for its proof, one for the source's own settings. Told all at once: whoever opens gates one by
 * one is refused once for each.
 */
import { gateTextOf, type GateReason } from './gates.js'

/** Flags of `gateway setup` by what they are for, in the order in which they are shown. */
const routeFlags: Readonly<Partial<Record<GateReason, readonly string[]>>> = {
  route_disabled: ['--enable'],
  slot_not_set: ['--model M', '--upstream-allow SLUG'],
  model_not_set: ['--model M', '--upstream-allow SLUG'],
  model_not_exact: ['--model M'],
  allow_list_missing: ['--upstream-allow SLUG'],
  key_missing: ['--api-key-file F'],
  key_unreadable: ['--api-key-file F'],
  credential_mismatch: ['--api-key-file F'],
  ledger_not_unique: ['--spend-ceiling USD'],
  policy_revoked: ['--consent gateway.vision'],
  egress_not_acknowledged: ['--consent gateway.vision'],
  consent_not_current: ['--consent gateway.vision'],
  principal_missing: ['--consent gateway.vision'],
  principal_disabled: ['--consent gateway.vision'],
}

/** Flags of `shots setup`. */
const settingFlags: Readonly<Partial<Record<GateReason, readonly string[]>>> = {
  analysis_off: ['--analysis on'],
  cloud_upload_off: ['--cloud-upload on'],
  fallbacks_not_denied: ['--fallbacks deny'],
  data_collection_not_denied: ['--data-collection deny'],
  zdr_not_on: ['--zdr on'],
  budget_not_set: ['--budget USD'],
  budget_below_bound: ['--budget USD'],
  budget_requests_not_set: ['--budget-requests N'],
  request_bound_not_set: ['--request-cost-bound USD'],
}

const flagsOf = (
  table: Readonly<Partial<Record<GateReason, readonly string[]>>>, gates: readonly GateReason[],
): string => {
  const wanted = new Set(gates.flatMap((gate) => table[gate] ?? []))
  return [...new Set(Object.values(table).flat())].filter((flag) => wanted.has(flag)).join(' ')
}

const isRouteBare = (gates: readonly GateReason[]): boolean =>
  gates.includes('model_not_set') && gates.includes('key_missing')

/** The slot is named where a flag is about it: with no other flag it is refused. */
const slotPart = (route: string): string =>
  (/--model|--upstream-allow/.test(route) ? '--slot screenshot ' : '')

/**
 * The commands, without `sallyport`. A proof is made after its route and after the settings. A
 * consent reaches forward only: what was taken in before it is sent by the last one, by name.
 */
export const openingCommands = (gates: readonly GateReason[]): readonly string[] => {
  const bare: readonly GateReason[] = isRouteBare(gates) ? [...gates, 'ledger_not_unique'] : gates
  const route = flagsOf(routeFlags, bare)
  const settings = flagsOf(settingFlags, gates)
  const needsProof = gates.includes('proof_missing') || gates.includes('proof_stale')
    || isRouteBare(gates)
  if (route === '' && settings === '' && !needsProof) return []
  return [
    ...(route === '' ? [] : [`gateway setup ${slotPart(route)}${route}`]),
    ...(settings === '' ? [] : [`shots setup ${settings}`]),
    ...(needsProof ? ['gateway prove screenshot'] : []),
    route.includes('--consent')
      ? 'shots reanalyze --blocked --reason manual_operator_request' : 'shots analyze',
  ]
}

/** The same as one sentence; null where no command opens what is closed. */
export const openingHint = (gates: readonly GateReason[]): string | null => {
  const commands = openingCommands(gates).map((line) => `\`sallyport ${line}\``)
  const [first] = gates
  if (commands.length === 0) return first === undefined ? null : gateTextOf(first)?.next ?? null
  return `Run ${commands.join(', then ')}.`
}
