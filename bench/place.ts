/** A deployment to measure in: the shipped program with folders of its own. */
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Program } from './pairs.js'

/** The program as `npm run build` leaves it. */
export const program = join(process.cwd(), 'bin/sallyport.js')

/** Folders under one temporary folder. */
export interface BenchPlace {
  readonly dir: string
  readonly stateDir: string
  readonly configDir: string
  readonly env: NodeJS.ProcessEnv
  /** Runs one line of the program and gives its output. */
  run(...argv: string[]): string
  /** A line of the program, to be measured. */
  line(argv: readonly string[], stdin?: string): Program
}

/** The same in a folder that stays. */
export const placeIn = (dir: string): BenchPlace => {
  const [stateDir, configDir] = [join(dir, 'state'), join(dir, 'config')]
  const env = {
    ...process.env,
    SALLYPORT_STATE_DIR: stateDir, SALLYPORT_CONFIG_DIR: configDir, XDG_DATA_HOME: dir,
  }
  return {
    dir,
    stateDir,
    configDir,
    env,
    run: (...argv) =>
      execFileSync(process.execPath, [program, ...argv], { env, encoding: 'utf8', stdio: 'pipe' }),
    line: (argv, stdin = '') => ({ args: [program, ...argv], env, stdin }),
  }
}

/** Runs `use` in a place that is removed afterwards. */
export const withPlace = async <T>(use: (place: BenchPlace) => T | Promise<T>): Promise<T> => {
  const dir = mkdtempSync(join(tmpdir(), 'sallyport-bench-'))
  try {
    return await use(placeIn(dir))
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** What `sandbox start --json` says. */
export interface StartedSandbox {
  readonly profile_file: string
  readonly provider_key_file: string
  readonly codehost_token_file: string
}

const startMsMax = 60_000

/** Runs `use` while the sandbox runs in a process of its own. */
export const withSandbox = async <T>(
  place: BenchPlace, use: (sandbox: StartedSandbox) => T | Promise<T>,
): Promise<T> => {
  const argv = [program, 'sandbox', 'start', '--json', '--dir', join(place.dir, 'sandbox')]
  const child = spawn(process.execPath, argv, {
    env: place.env, stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const started = await new Promise<StartedSandbox>((resolve, reject) => {
      let printed = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        printed += text
        if (printed.endsWith('}\n')) resolve(JSON.parse(printed) as StartedSandbox)
      })
      child.once('error', reject)
      child.once('close', () => reject(new Error('the sandbox did not start')))
      setTimeout(() => reject(new Error('the sandbox did not start in time')), startMsMax).unref()
    })
    return await use(started)
  } finally {
    child.kill()
  }
}

/** Sets up the text route of a new state; `more`: words of its `init` besides. */
export const setUpText = (
  place: BenchPlace, sandbox: StartedSandbox, more: readonly string[] = [],
): void => {
  place.run('init', '--profile', sandbox.profile_file, ...more)
  place.run('login')
  place.run(
    'alpha', 'setup', '--enable', '--acknowledge-plaintext-egress',
    '--api-key-file', sandbox.provider_key_file, '--max-output-tokens', '200',
    '--timeout-seconds', '20', '--request-cost-bound-microusd', '1000',
    '--spend-ceiling-microusd', '1000000', '--expected-policy-revision', '1',
  )
}
