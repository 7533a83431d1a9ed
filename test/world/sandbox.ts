/** The stage of the world outside: the sandbox, over real TLS on loopback. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeCertificates } from '../../src/sandbox/certificates.js'
import type { TlsMaterial } from '../../src/sandbox/certificates.js'
import { startSandbox } from '../../src/sandbox/start.js'
import type { Sandbox, SandboxOptions } from '../../src/sandbox/start.js'
import type { SeenRequest } from '../../src/sandbox/types.js'
import { marksInFiles, searchFor } from '../support/marks.js'
import { temporaryFolder, type Place, type Teardown } from './place.js'
import type { Placed } from './world.js'

/** A running sandbox, which a state directory of this world seals. */
export interface Outside {
  readonly sandbox: Sandbox
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

/** Starts a sandbox alone; it stops, and its folder goes, when the test ends. */
export const sandboxOf = async (
  t: Teardown, options: Partial<SandboxOptions> = {},
): Promise<Sandbox> => {
  const dir = options.dir ?? join(temporaryFolder(t), 'sandbox')
  const sandbox = await startSandbox({ tls: await sharedTls(), ...options, dir })
  t.teardown(() => sandbox.stop())
  return sandbox
}

/** What the sandbox's answers end in, and what everything else that is private begins with. */
const privateWords = searchFor(['(Sandbox answer.)', 'MARK-'])

/** Throws, and so fails the test, when anything private lies in the clear in the deployment. */
const requireNoLeak = ({ stateDir, configDir, env }: Place): void => {
  const found = marksInFiles(privateWords, [stateDir, configDir, env['HOME'] ?? ''])
  if (found.length > 0) throw new Error(`private text in the clear: ${found.join(', ')}`)
}

/**
 * Throws, and so fails the test, when the code host was asked for anything but a read or one of the
 * creations: no merge, no release, no move of a reference, nothing that deletes.
 */
export const requireOnlyCreations = (
  seen: readonly Pick<SeenRequest, 'service' | 'method' | 'route' | 'path'>[],
): void => {
  const others = seen.filter(({ service, method, route }) =>
    service === 'codehost' && method !== 'GET' && !(method === 'POST' && route !== 'unknown'))
  if (others.length === 0) return
  throw new Error(`the code host was asked for: ${others.map(({ method, path }) =>
    `${method} ${path}`).join(', ')}`)
}

/** Provider and gateway; when the test ends nothing private may lie in the clear. */
export const outside = async (
  t: Teardown, { place }: Placed, options: Partial<SandboxOptions>,
): Promise<Outside> => {
  const seen: { log?: Sandbox['log'] } = {}
  // What is registered first runs last: nothing that throws may keep the sandbox from its end.
  t.teardown(() => {
    requireNoLeak(place)
    requireOnlyCreations(seen.log?.all() ?? [])
  })
  const sandbox = await sandboxOf(t, options)
  seen.log = sandbox.log
  return { sandbox }
}
