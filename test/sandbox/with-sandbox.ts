import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeCertificates } from '../../src/sandbox/certificates.js'
import type { TlsMaterial } from '../../src/sandbox/certificates.js'
import { startSandbox } from '../../src/sandbox/start.js'
import type { Sandbox, SandboxOptions } from '../../src/sandbox/start.js'

/** What a test gives: all sandbox options but the folder's, which is made and removed here. */
export type WithSandboxOptions = Partial<SandboxOptions>

/** What the helper needs of tap's `t`. */
export interface Teardown {
  teardown(done: () => Promise<void> | void): void
}

let shared: Promise<TlsMaterial> | undefined

/** One certificate for all sandboxes of a run: making one costs each process a few hundred ms. */
const sharedTls = (): Promise<TlsMaterial> => (shared ??= givenTls() ?? makeCertificates())

/** What the run of the whole suite made for its processes. */
const givenTls = (): Promise<TlsMaterial> | undefined => {
  const path = process.env['SALLYPORT_TEST_TLS']
  if (path === undefined) return undefined
  return readFile(path, 'utf8').then((text) => JSON.parse(text) as TlsMaterial)
}

/** Starts a sandbox that stops (and whose temporary folder goes) when the test ends. */
export const withSandbox = async (
  t: Teardown,
  options: WithSandboxOptions = {},
): Promise<Sandbox> => {
  const temporary =
    options.dir === undefined ? await mkdtemp(join(tmpdir(), 'sallyport-sandbox-')) : null
  const dir = options.dir ?? join(temporary ?? '', 'sandbox')
  const sandbox = await startSandbox({ tls: await sharedTls(), ...options, dir })
  t.teardown(async () => {
    await sandbox.stop()
    if (temporary !== null) await rm(temporary, { recursive: true, force: true })
  })
  return sandbox
}
