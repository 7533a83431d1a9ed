/**
 * The witness log: one hash-chained line per published policy revision, in a file of its own.
 * Contact needs the log and the witness to agree, so that neither can be rolled back alone
 * . The log is written first; a witness that is exactly one line behind is what a
 * crash between the two leaves, and is completed. Anything else blocks contact.
 */
import * as v from 'valibot'
import { digestOf, sha256Hex, canonicalJson } from '../../base/canonical.js'
import type { View, WitnessLog, WriteHookContext } from '../../state/types.js'
import { collections, type PolicyRevision } from '../rows.js'
import { policyAt, policyHead } from './head.js'

const lineShape = v.strictObject({
  revision: v.pipe(v.number(), v.safeInteger()),
  state: v.picklist(['active', 'revoked']),
  policy_sha256: v.string(),
  previous: v.string(),
  digest: v.string(),
})
type WitnessLine = v.InferOutput<typeof lineShape>

/** `ok`, or why the witness does not vouch for the head of the policy. */
export type WitnessStatus = 'ok' | 'behind_by_one' | 'missing' | 'mismatch'

const first = '0'.repeat(64)

const bodyDigest = (line: Omit<WitnessLine, 'digest'>): string => sha256Hex(canonicalJson(line))

const lineFor = (policy: PolicyRevision, previous: string): string => {
  const body = {
    revision: policy.revision, state: policy.state, policy_sha256: digestOf(policy), previous,
  }
  return canonicalJson({ ...body, digest: bodyDigest(body) })
}

type Chain = readonly WitnessLine[] | null

/** The last lines that were verified: the file is read at every check, its text seldom changes. */
let verified: { readonly lines: readonly string[]; readonly chain: Chain } = {
  lines: [], chain: [],
}

/** The verified chain; null when any line is damaged, out of order or cut out. */
const readChain = (lines: readonly string[]): Chain => {
  const same = lines.length === verified.lines.length
    && lines.every((line, at) => line === verified.lines[at])
  if (!same) verified = { lines, chain: verifyChain(lines) }
  return verified.chain
}

const verifyChain = (lines: readonly string[]): Chain => {
  const chain: WitnessLine[] = []
  for (const raw of lines) {
    let value: unknown
    try {
      value = JSON.parse(raw)
    } catch {
      return null
    }
    const parsed = v.safeParse(lineShape, value)
    if (!parsed.success || canonicalJson(parsed.output) !== raw) return null
    const { digest, ...body } = parsed.output
    const last = chain.at(-1)
    if (bodyDigest(body) !== digest || body.previous !== (last?.digest ?? first)) return null
    if (last && body.revision <= last.revision) return null
    chain.push(parsed.output)
  }
  return chain
}

/** Of a document of a view: it is frozen, and every view of it has the same one. */
const digests = new WeakMap<PolicyRevision, string>()

const digestOfPolicy = (policy: PolicyRevision): string => {
  const digest = digests.get(policy) ?? digestOf(policy)
  if (Object.isFrozen(policy)) digests.set(policy, digest)
  return digest
}

const vouches = (line: WitnessLine | undefined, policy: PolicyRevision): boolean =>
  line?.revision === policy.revision && line.policy_sha256 === digestOfPolicy(policy)

/** Compares the witness file with the head of the policy. Reads only. */
export const witnessStatus = (
  view: View, log: WitnessLog, policies: (revision: number) => PolicyRevision | undefined,
): WitnessStatus => {
  const chain = readChain(log.lines())
  if (chain === null) return 'mismatch'
  const head = policyHead(view)
  const last = chain.at(-1)
  if (vouches(last, head)) return 'ok'
  if (chain.length === 0) return head.revision === 1 ? 'behind_by_one' : 'missing'
  const before = last && policies(last.revision)
  const next = last && nextRevision(head, last.revision, policies)
  return before && vouches(last, before) && next === head.revision ? 'behind_by_one' : 'mismatch'
}

/** Lowest published revision above `after`, at most the head's. */
const nextRevision = (
  head: PolicyRevision, after: number, policies: (revision: number) => PolicyRevision | undefined,
): number | undefined => {
  for (let revision = after + 1; revision <= head.revision; revision += 1) {
    if (policies(revision)) return revision
  }
  return undefined
}

/** The last revision that the witness has a line of; 0 when it has none or is damaged. */
export const lastWitnessed = (log: WitnessLog): number =>
  readChain(log.lines())?.at(-1)?.revision ?? 0

/** Appends the line of `policy`, once: a second call for the same revision writes nothing. */
export const witnessRevision = (log: WitnessLog, policy: PolicyRevision): void => {
  const chain = readChain(log.lines())
  if (chain === null) return
  const last = chain.at(-1)
  if (last && last.revision >= policy.revision) return
  log.append(lineFor(policy, last?.digest ?? first))
}

/**
 * Appends the lines of revisions that another machine has published, as they are followed: their
 * records are sealed by the store's key, and the anchor moves behind the line as it does here. A
 * process that died may have left out some. A witness that disagrees is left as it is.
 */
export const followWitness = ({ view, witness }: WriteHookContext): void => {
  const chain = readChain(witness.lines())
  const head = view.get(collections.policyHead, 'the')
  if (chain === null || head === undefined) return
  const last = chain.at(-1)
  const known = last === undefined ? undefined : policyAt(view, last.revision)
  if (last !== undefined && (known === undefined || !vouches(last, known))) return
  for (let at = (last?.revision ?? 0) + 1; at <= head.revision; at += 1) {
    const policy = policyAt(view, at)
    if (policy !== undefined) witnessRevision(witness, policy)
  }
}
