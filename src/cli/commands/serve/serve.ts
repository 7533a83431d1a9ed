import { spawn } from 'node:child_process'
import { SallyportError } from '../../../base/errors.js'
import { thisPlatform } from '../../../base/platform/this-platform.js'
import type { Carried } from '../../../base/told.js'
import {
  serve as serveContract, startService, type StartedService,
} from '../../../service/start.js'
import { carriedByService, mayNameState } from '../../places.js'
import { integerFlag } from '../../flags.js'
import { requestOf } from '../../request.js'
import type { VerbDeps, LineOf, VerbRecord } from '../../verb.js'

// Hands a file to the browser of whoever sits here; only its name is in the process list.

/** Tries to; where there is no screen, or no program for it, the file is opened by hand. */
const openInBrowser = (deps: VerbDeps, file: string): void => {
  const opener = thisPlatform.opener(deps.env)
  if (opener === null || !deps.interactive) return
  spawn(opener, [file], { detached: true, stdio: 'ignore' })
    .on('error', () => undefined).unref()
}

type ServeOptions = LineOf<typeof serveContract>

type Served = ReturnType<typeof serveContract.answer>

const running = new WeakMap<Served, StartedService>()

/** Codes, for a terminal alone; never in the document. */
const codes = new WeakMap<Served, string>()

const pageLines = (result: Served, { io, view }: VerbDeps): readonly string[] => {
  if (result.page === null) return []
  const { url, open_file: file } = result.page
  const code = codes.get(result)
  return [
    `Page: ${url}`,
    ...(file === null ? [`Open it with: ${view.command('serve --open')}`] : [
      `Open this file in a browser, once, within a minute: ${file}`,
    ]),
    // Not into a log: a service that systemd starts has no terminal.
    ...(code === undefined || !io.terminal.stderr
      ? [] : [`Or go to the page and paste this code: ${code}`]),
  ]
}

const publicLines = ({ public: elsewhere }: Served, { view }: VerbDeps): readonly string[] => {
  if (elsewhere === null) return []
  const { origin, forward_to: to, port_changed: changed } = elsewhere
  return [
    `Devices elsewhere: ${origin}, which you forward to ${to}`,
    `Pair one with: ${view.command('edge pair')}`,
    ...(changed ? ['The old port is taken: forward to this one.'] : []),
  ]
}

/** Waits for the signal to stop, then for what goes on. */
const untilStopped = async (result: Served, deps: VerbDeps): Promise<void> => {
  const started = running.get(result)
  if (result.page !== null && result.page.open_file !== null) {
    openInBrowser(deps, result.page.open_file)
  }
  if (started === undefined) return
  if (!deps.stop.aborted) {
    await new Promise<void>((resolve) => {
      deps.stop.addEventListener('abort', () => resolve(), { once: true })
    })
  }
  await started.stop()
}

/** The session that a way into the page is for; null where none is asked for. */
const openerOf = async (open: boolean, deps: VerbDeps): Promise<string | null> =>
  (open ? (await deps.login('read')).session.root.root_id : null)

/**
 * What the commands carry that it tells. A service lives for long, and its name may come to stand
 * for another state meanwhile: it is told for as long as it means this one.
 */
const carriedHere = async (deps: VerbDeps): Promise<() => Carried> => {
  if (!mayNameState(deps, deps.globals)) return () => carriedByService(deps)
  const { nameInForce } = await import('../../../fabric/names/look-up.js')
  return () => carriedByService(deps, nameInForce(deps))
}

const begin = async (
  request: ReturnType<typeof serveContract.request>, deps: VerbDeps,
): Promise<Served> => {
  const { port, page, open, log_requests: all = false, public: place } = request
  const { stateDir, configDir } = deps.places
  const carried = await carriedHere(deps)
  const openFor = await openerOf(open === true, deps)
  const started = await startService({
    world: deps, port, pid: process.pid, carried, public: place,
    place: { stateDir, configDir, waitMs: deps.globals.waitMs, clock: deps.clock },
    log: { write: (line) => deps.io.writeErr(`${line}\n`), all },
    page: page === true || open === true ? { openFor } : undefined,
  })
  const result = serveContract.answer(started)
  running.set(result, started)
  if (started.offered !== null) codes.set(result, started.offered.code)
  return result
}

/** Another port, or a place for other machines, is a wish that the one that runs cannot fulfil. */
const asksElsewhere = (
  { port, public: place }: ReturnType<typeof serveContract.request>, { details }: SallyportError,
): boolean =>
  place !== undefined || (port !== undefined && details['origin'] !== `https://127.0.0.1:${port}`)

export const serve: VerbRecord<ServeOptions, Served> = {
  summary: 'offer what programs and devices need over HTTPS on loopback',
  description:
    'Listens on 127.0.0.1 and ::1 alone, with a key of its own, sealed in the vault. It answers '
    + 'requests that bear the token of a session. It shares the state directory with terminals and '
    + 'timers beside it; a second service of the same state is refused. The port is chosen once '
    + 'and kept. What it offers is told by GET /openapi.json. A signal ends it: what is under way '
    + 'ends by itself first. It tells on stderr, one line of JSON each: start, stop, refused '
    + 'credentials and failures, at most 30 of a kind a minute. With --log-requests it tells every '
    + 'request. No line holds a body, a token or a query. --page serves a page for a browser '
    + 'besides, on its own port of loopback. --public names a place by which devices of other '
    + 'machines find it: a host and a port that you forward to a port of loopback, which it tells. '
    + 'It listens on loopback all the same. What comes in by that port gets pairing, upload and '
    + 'readback of devices, and nothing else. --open makes a private file that opens the page '
    + 'once, within a minute, for the session in use. Where the service runs already, --open asks '
    + 'it for a new one and ends.',
  examples: [
    '$ sallyport serve',
    '$ sallyport serve --open',
    '$ sallyport serve --port 8443 --json',
    '$ sallyport serve --public desk.example:8443',
  ],
  session: 'optional',
  exits: [
    'rejected', 'unauthorized', 'blocked', 'conflict', 'remote', 'no_state', 'locked', 'damaged',
  ],
  json: serveContract,
  flags: (command) => command.addOption(integerFlag(
    '--port <n>', 'listen on this port from now on (default: the one of before, or a free one)',
    { min: 1, max: 65_535 },
  ))
    .option('--log-requests', 'tell every request on stderr, one line of JSON each')
    .option('--page', 'serve a page for a browser, too')
    .option('--open', 'serve it and make a way into it')
    .option('--public <host:port>', 'let devices of other machines in, by this place'),
  text: (result, _view, deps) => ({
    out: `${result.origin}\n`,
    notes: [
      `Certificate for scripts: ${result.certificate_file}`,
      `Key of the service: ${result.pin}`,
      ...(result.port_changed
        ? ['The port is another one than before: pair devices again.'] : []),
      ...publicLines(result, deps),
      ...pageLines(result, deps),
    ],
  }),
  after: untilStopped,
  run: async (options, deps) => {
    const request = requestOf(serveContract, options)
    try {
      return await begin(request, deps)
    } catch (error) {
      const isRunning = error instanceof SallyportError && error.code === 'service_running'
      if (request.open !== true || !isRunning || asksElsewhere(request, error)) throw error
      const { askForPage } = await import('./ask-for-page.js')
      return askForPage(deps, error)
    }
  },
}
