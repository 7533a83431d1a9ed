/** `sallyport edge daemon`: sends what waits in the spool of this device to the paired service. */
import { Option } from 'commander'
import { edgeDaemon, type DaemonEvent } from '../../../edge/device/daemon-contract.js'
import type { PairingString } from '../../../edge/device/pairing-string.js'
import { renamed } from '../../flags.js'
import { readSecret } from '../../input.js'
import { writeJsonLine, writeLine, type View } from '../../output.js'
import { verb, type VerbDeps } from '../../verb.js'
import { evictionLine } from './capture.js'
import { deviceContext } from './device.js'

const spoolText = ({ items, bytes, aside }: { items: number; bytes: number; aside: number }) =>
  `${items} waiting, ${bytes} bytes${aside === 0 ? '' : `, ${aside} aside`}`

const waitText = (ms: number, view: View): string =>
  (view.terminal ? view.span(Math.max(1_000, ms)) : `${ms} ms`)

const eventText = (told: DaemonEvent, view: View): string => {
  switch (told.event) {
    case 'paired': return `paired as ${told.device_id}`
    case 'ready': return `ready: ${spoolText(told.spool)}; ${told.evictions} ever left unsent`
    case 'sent': return `sent ${told.request_id} as ${told.artifact_id}`
    case 'aside': return `aside (${told.reason}): ${told.request_id}`
    case 'evicted': return evictionLine(told.eviction)
    case 'waiting': return `not sent (${told.reason}); again in ${waitText(told.wait_ms, view)}`
    case 'replaced': return replacedText(told)
    case 'stopped': return `stopped: ${spoolText(told.spool)}`
  }
}

const replacedText = ({ device_id: id, reason }: DaemonEvent & { event: 'replaced' }): string =>
  (reason === null ? `the former pairing ${id} has ended`
    : `the former pairing ${id} could not be ended from here (${reason}): `
      + `\`sallyport edge revoke ${id}\``)

const lineText = (told: DaemonEvent, view: View): string => `${told.at} ${eventText(told, view)}`

const say = (deps: VerbDeps, told: DaemonEvent): void => {
  deps.progress.clear()
  if (deps.globals.json) writeJsonLine(deps, edgeDaemon.document(told))
  else writeLine(deps, lineText(told, deps.view))
}

const pairingOf = async (deps: VerbDeps, from: string): Promise<PairingString> => {
  const { pairingStringMax, readPairingString } =
    await import('../../../edge/device/pairing-string.js')
  const text = await readSecret(deps, { from, flag: '--pair-file', bytesMax: pairingStringMax + 2 })
  const pairing = readPairingString(text)
  deps.secrets.add(pairing.code)
  return pairing
}

/** A machine may be called anything; a device is called by plain characters. */
const plainName = (name: string): string =>
  name.replace(/[^A-Za-z0-9._-]/g, '-').replace(/^[^A-Za-z0-9]+/, '').slice(0, 64) || 'device'

export const daemon = verb(edgeDaemon, {
  summary: 'send what this device captured to the paired service',
  description:
    'Sends what waits in the spool, in order, to the one service that this device was paired '
    + 'with, and to nobody else. The service is known by its key. What got no answer is sent '
    + 'again as the same request, after gaps that grow. What the service will never take lies '
    + 'aside with its reason. Where the service does not take the device any more, nothing is '
    + 'sent until it is paired again. With --pair-file it redeems a pairing string first: a '
    + 'file of mode 600 that `edge pair` wrote, or - for stdin. It stays in the foreground '
    + 'until Ctrl-C or SIGTERM and then ends with status 0. With --once it sends what waits '
    + 'and ends: for cron. It needs neither a state directory nor a login, and knows no model.',
  examples: [
    '$ sallyport edge daemon --pair-file pairing.txt',
    '$ sallyport edge daemon --once --json',
  ],
  damage: 'unasked',
  contacts: true,
  exits: ['rejected', 'unauthorized', 'remote', 'locked', 'cancelled'],
  flags: (command) => command
    .option('--once', 'send what waits, then end')
    .option('--pair-file <file>', 'redeem this pairing string first (- for stdin)')
    .addOption(renamed(new Option(
      '--device-name <name>', 'what the service calls this device (the machine unless said)',
    ), '--name')),
  text: (line, view) => `${lineText(line as DaemonEvent, view)}\n`,
  run: async (request, deps, line: { readonly pairFile?: string }) => {
    const pairing = line.pairFile === undefined ? null : await pairingOf(deps, line.pairFile)
    const [{ runDaemon }, { hostname }] = await Promise.all([
      import('../../../edge/device/daemon.js'), import('node:os'),
    ])
    const { clock, env, execArgv, resolve } = deps
    return runDaemon({
      ...deviceContext(deps),
      net: { clock, env, execArgv, resolve },
      chance: Math.random,
      tell: (event) => say(deps, event),
    }, { ...request, pairing, hostName: plainName(hostname()) })
  },
})
