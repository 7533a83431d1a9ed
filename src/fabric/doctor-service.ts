/**
 * What can be said of the service without asking it: its port and certificate as the state keeps
 * them, and the recipe by which systemd would start it. Nothing where it was never started.
 */
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Gov } from '../governance/context.js'
import { findService } from '../governance/service/identity.js'
import type { MachineCheck as Check } from './doctor-contract.js'

const textOf = (path: string): string | null => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

const certificateCheck = (pem: string, nowMs: number): Check => {
  const name = 'service certificate'
  const endsMs = Date.parse(new X509Certificate(pem).validTo)
  return endsMs > nowMs
    ? { name, result: 'ok', text: `valid until ${new Date(endsMs).toISOString()}`, next: null }
    : { name, result: 'note', text: 'has run out; the next start makes another', next: null }
}

/** Values of a field of a unit file, in their order. */
const fieldsOf = (unit: string, field: string): readonly string[] => unit.split('\n')
  .flatMap((line) => (line.startsWith(`${field}=`) ? [line.slice(field.length + 1).trim()] : []))

/** What is wrong with the recipe of a socket for this port; null: nothing. */
export const socketProblem = (unit: string, port: number): string | null => {
  const addresses = fieldsOf(unit, 'ListenStream')
  const own = [`127.0.0.1:${port}`, `[::1]:${port}`]
  if (addresses.some((one) => !/^(?:127\.0\.0\.1|\[::1\]):\d+$/.test(one))) {
    return 'listens elsewhere than on loopback; the service refuses it'
  }
  return own.every((one) => addresses.includes(one))
    ? null : `does not listen on port ${port} of both 127.0.0.1 and ::1`
}

const socketCheck = (folder: string, port: number): readonly Check[] => {
  const unit = textOf(join(folder, 'sallyport.socket'))
  if (unit === null) return []
  const name = 'service socket'
  const wrong = socketProblem(unit, port)
  return [wrong === null
    ? { name, result: 'ok', text: 'sallyport.socket fits the port of the service', next: null }
    : {
      name, result: 'problem', text: `sallyport.socket ${wrong}`,
      next: `In ${folder}: ListenStream=127.0.0.1:${port} and ListenStream=[::1]:${port}.`,
    }]
}

/** The checks. Throws what reading throws. */
export const serviceChecks = (
  gov: Gov, { env, home }: {
    readonly env: Readonly<Record<string, string | undefined>>
    readonly home: string
  },
): readonly Check[] => {
  const row = findService(gov.store.read())
  if (row === undefined) return []
  const config = env['XDG_CONFIG_HOME'] || join(home, '.config')
  return [
    { name: 'service port', result: 'ok', text: `${row.port}, kept for good`, next: null },
    certificateCheck(row.certificate, gov.clock.wallMs()),
    ...socketCheck(join(config, 'systemd', 'user'), row.port),
  ]
}
