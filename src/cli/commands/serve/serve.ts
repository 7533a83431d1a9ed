import { serve, startService, type StartedService } from '../../../service/start.js'
import type { VerbDeps } from '../../bound.js'
import { integerFlag } from '../../flags.js'
import { requestOf } from '../../request.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'

/** Flags of `serve`. */
export interface ServeOptions {
  readonly port?: number
}

type Served = ReturnType<typeof serve.answer>

const running = new WeakMap<Served, StartedService>()

/** Waits for the signal to stop, then for what goes on. */
const untilStopped = async (result: Served, deps: VerbDeps): Promise<void> => {
  const started = running.get(result)
  if (started === undefined) return
  if (!deps.stop.aborted) {
    await new Promise<void>((resolve) => {
      deps.stop.addEventListener('abort', () => resolve(), { once: true })
    })
  }
  await started.stop()
}

const definition: VerbDefinition<Served> = {
  meta: {
    name: 'serve',
    summary: 'offer the same use cases over HTTPS on loopback',
    description:
      'Listens on 127.0.0.1 and ::1 alone, with a key of its own that is sealed in the vault, and '
      + 'answers requests that bear the token of a session. It shares the state directory with '
      + 'terminals and timers beside it. The port is chosen once and kept. What it offers is told '
      + 'by GET /openapi.json. A signal ends it: what is under way comes to its own end first.',
    examples: [
      '$ sallyport serve',
      '$ sallyport serve --port 8443 --json',
    ],
    session: 'none',
    damage: 'refuses',
    exits: ['rejected', 'blocked', 'conflict', 'no_state', 'locked', 'damaged'],
    json: serve,
  },
  flags: (command) => command.addOption(integerFlag(
    '--port <n>', 'listen on this port from now on (default: the one of before, or a free one)',
    { min: 1, max: 65_535 },
  )),
  text: (result) => ({
    out: `${result.origin}\n`,
    notes: [
      `Certificate for scripts: ${result.certificate_file}`,
      `Key of the service: ${result.pin}`,
      ...(result.port_changed
        ? ['The port is another one than before: pair devices again.'] : []),
    ],
  }),
  after: untilStopped,
}

/** Starts the service. */
export const run: Run<ServeOptions, Served> = async (options, deps) => {
  const { port } = requestOf(serve, options)
  const { stateDir, configDir } = deps.places
  const started = await startService({
    world: deps, port, pid: process.pid,
    place: { stateDir, configDir, waitMs: deps.globals.waitMs, clock: deps.clock },
  })
  const result = serve.answer(started)
  running.set(result, started)
  return result
}

/** Parses a line of `serve`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
