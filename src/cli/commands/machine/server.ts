/** The server of a shared state, as the flags of a line name it. */
import { X509Certificate } from 'node:crypto'
import { fail } from '../../../base/errors.js'
import { hostMachineName, requireMachineName } from '../../../state/place/machine-name.js'
import type { Reaching } from '../../../state/place/share.js'
import { readInputText } from '../../input.js'
import type { VerbDeps } from '../../verb.js'
import { serverPassword } from './secrets.js'

/** Flags of whatever names a server. */
export interface ServerLine {
  readonly serverCa?: string
  readonly serverPasswordFile?: string
  readonly machineName?: string
}

/** Longest file of certificates, bytes. */
const caBytesMax = 65_536
const oneCertificate = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g

const isCertificate = (pem: string): boolean => {
  try {
    return new X509Certificate(pem).raw.length > 0
  } catch {
    return false
  }
}

const caOf = async (deps: VerbDeps, from: string | undefined): Promise<string | null> => {
  if (from === undefined) return null
  const text = await readInputText(deps, { from, flag: '--server-ca', bytesMax: caBytesMax })
  const found = text.match(oneCertificate) ?? []
  // What Node cannot read of a file of several it would leave out without a word.
  if (found.length > 0 && found.every(isCertificate)) return `${found.join('\n')}\n`
  throw fail.rejected('server_ca_invalid', 'What --server-ca names are no certificates in PEM.', {
    next: 'Name the file of the authority that signed the certificate of the server.',
  })
}

/**
 * The server that a line names; whether its address is one is said by who uses it. Throws
 * `rejected`: `server_ca_invalid`, `machine_name_form`, and as `readSecret`.
 */
export const serverOf = async (
  deps: VerbDeps, address: string, line: ServerLine,
): Promise<Reaching> => {
  const machineName = requireMachineName(line.machineName ?? hostMachineName())
  const ca = await caOf(deps, line.serverCa)
  return { address, ca, machineName, password: await serverPassword(deps, line.serverPasswordFile) }
}
