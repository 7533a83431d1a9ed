import { randomBytes, randomUUID } from 'node:crypto'
import { chmod, mkdir, open, readFile, readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { fail } from '../base/errors.js'
import { certificatesUsable, makeCertificates, type TlsMaterial } from './certificates.js'
import { isInteger, isObject } from './json.js'
import type { ServiceName } from './types.js'

/** Ports by the name of what listens there; 0 stands for any free one. */
export type Ports = Readonly<Record<ServiceName | 'control', number>>

/** What a sandbox folder keeps from one start to the next. */
interface SandboxFolder {
  readonly dir: string
  readonly tls: TlsMaterial
  readonly ports: Ports
  /** Bearer token of the control endpoint. */
  readonly token: string
}

/** The files of a sandbox folder. */
export const folderFiles = {
  settings: 'sandbox.json',
  profile: 'profile.json',
  ca: 'ca.pem',
  certificate: 'server.pem',
  key: 'server.key',
  providerKey: 'provider-api.key',
  gatewayKey: 'gateway-api.key',
  codehostToken: 'codehost-token.key',
} as const

/** Its kernel lock is held while a sandbox runs from the folder. */
export const runningFile = 'running.lock'

/** The folder in it that holds the code host's repositories, once they were asked for. */
export const codehostFolder = 'codehost'

const schema = 'sallyport.sandbox.v1'
const portMax = 65_535
const pidMax = 2 ** 31

/** Writes a file mode 600 through a temporary name, so that no reader sees half of it. */
export const writePrivate = async (path: string, text: string): Promise<void> => {
  const temporary = `${path}.${randomUUID()}.tmp`
  const file = await open(temporary, 'wx', 0o600)
  try {
    await file.writeFile(text)
    // A sandbox in the background is found by what stands here, also after a power failure.
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(temporary, path)
}

const ours = new Set<string>([...Object.values(folderFiles), codehostFolder, runningFile])

const textIn = (dir: string, name: string): Promise<string | null> =>
  readFile(join(dir, name), 'utf8').catch(() => null)

/** Makes the folder (mode 700). Throws `sandbox_dir_not_empty`. */
export const prepareFolder = async (dir: string): Promise<void> => {
  await mkdir(dir, { recursive: true, mode: 0o700 })
  const names = await readdir(dir)
  // A crash in the first start leaves only files of ours; anything else is somebody's folder.
  const strange = names.filter((name) => !ours.has(name.replace(/\.[0-9a-f-]{36}\.tmp$/, '')))
  if (strange.length > 0 && !names.includes(folderFiles.settings)) {
    throw fail.rejected('sandbox_dir_not_empty', 'That folder holds files of something else.', {
      next: 'Give an empty or new folder with --dir.',
      details: { files: strange.length },
    })
  }
  await chmod(dir, 0o700)
}

const readTls = async (dir: string): Promise<TlsMaterial | null> => {
  const [caPem, certPem, keyPem] = await Promise.all([
    textIn(dir, folderFiles.ca),
    textIn(dir, folderFiles.certificate),
    textIn(dir, folderFiles.key),
  ])
  if (caPem === null || certPem === null || keyPem === null) return null
  const tls = { caPem, certPem, keyPem }
  return certificatesUsable(tls) ? tls : null
}

/** What a start wrote; `pid` is that of the process, or of the last one. */
interface Settings {
  readonly ports: Ports
  readonly token: string
  readonly pid: number | null
}

const readSettings = async (dir: string): Promise<Settings | null> => {
  const text = await textIn(dir, folderFiles.settings)
  if (text === null) return null
  try {
    const value: unknown = JSON.parse(text)
    if (!isObject(value) || value.schema !== schema || !isObject(value.ports)) return null
    // An earlier version had no code host: its port is found at the next start.
    const { provider, gateway, control, codehost = 0 } = value.ports
    const token = value.token
    if (typeof token !== 'string' || token.length < 32) return null
    const ports = { provider, gateway, codehost, control }
    const whole = Object.values(ports).every((one) => isInteger(one, 0, portMax))
    const pid = isInteger(value.pid, 1, pidMax) ? Number(value.pid) : null
    return whole ? { ports: ports as Ports, token, pid } : null
  } catch {
    return null
  }
}

/**
 * Opens or makes a sandbox folder (mode 700, files 600). Certificate and ports of an earlier start
 * are kept; a missing, broken or expired part is made anew. Throws `sandbox_dir_not_empty`.
 */
export const openFolder = async (dir: string, given?: TlsMaterial): Promise<SandboxFolder> => {
  await prepareFolder(dir)
  const stored = await readTls(dir)
  const tls = stored ?? given ?? (await makeCertificates())
  const settings = await readSettings(dir)
  if (stored === null) {
    await writePrivate(join(dir, folderFiles.key), tls.keyPem)
    await writePrivate(join(dir, folderFiles.certificate), tls.certPem)
    await writePrivate(join(dir, folderFiles.ca), tls.caPem)
  }
  return {
    dir,
    tls,
    ports: settings?.ports ?? { provider: 0, gateway: 0, codehost: 0, control: 0 },
    token: settings?.token ?? randomBytes(32).toString('base64url'),
  }
}

/** Reads what a client of the control endpoint needs, or null when `dir` is no sandbox folder. */
export const readFolder = async (
  dir: string,
): Promise<({ readonly caPem: string } & Settings) | null> => {
  const settings = await readSettings(dir)
  const caPem = await textIn(dir, folderFiles.ca)
  return settings === null || caPem === null ? null : { caPem, ...settings }
}

/** Writes process, ports and token for the next start and for the control commands. */
export const saveSettings = (folder: SandboxFolder, ports: Ports): Promise<void> => {
  const text = JSON.stringify({ schema, pid: process.pid, ports, token: folder.token }, null, 2)
  return writePrivate(join(folder.dir, folderFiles.settings), `${text}\n`)
}
