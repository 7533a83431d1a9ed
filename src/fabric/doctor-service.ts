/**
 * What can be said of the service without asking it: which process it is, its port and certificate
 * as the state keeps them, and the recipe by which systemd or launchd would start it. Nothing where
 * it was never started.
 */
import { X509Certificate } from 'node:crypto'
import { accessSync, constants, readFileSync, statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { baseFolderIfNamed, libraryFolder, type NamesPlaces } from '../base/user-folders.js'
import type { Gov } from '../governance/context.js'
import type { ServiceRow } from '../governance/rows.js'
import { findService, identityOf } from '../governance/service/identity.js'
import { runningService, runningText } from '../governance/service/running.js'
import type { MachineCheck as Check } from './doctor-contract.js'
import { serviceProblem, socketProblem, unitOf, type Unit } from './unit-files.js'

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

const processCheck = (stateDir: string): Check => {
  const running = runningService(stateDir)
  const text = running === null ? 'none runs' : runningText(running)
  return { name: 'service process', result: 'ok', text, next: null }
}

const unitChecks = (
  folder: string, file: string, what: string, wrongIn: (unit: Unit) => string | null, next: string,
): readonly Check[] => {
  const path = join(folder, file)
  const text = textOf(path)
  if (text === null) return []
  const wrong = (statSync(path).mode & 0o022) === 0 ? wrongIn(unitOf(text))
    : 'may be changed by others, who could run anything as you'
  const name = `service ${what}`
  if (wrong !== null) return [{ name, result: 'problem', text: `${file} ${wrong}`, next }]
  // What stands there counts before the file, and is not read here.
  const isChanged = statSync(`${path}.d`, { throwIfNoEntry: false })?.isDirectory() === true
  return [isChanged
    ? { name, result: 'note', text: `${file} is changed by what lies in ${file}.d`, next: null }
    : { name, result: 'ok', text: `${file} fits the service`, next: null }]
}

const runs = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** The recipe by which systemd would start it: nothing where there is none. */
const recipeChecks = (folder: string, port: number, home: string): readonly Check[] => {
  const socket = unitChecks(folder, 'sallyport.socket', 'socket',
    (unit) => socketProblem(unit, port), `In ${folder}, chmod 600: ListenStream=127.0.0.1:${port} `
    + `and ListenStream=[::1]:${port}, and no other one.`)
  const service = unitChecks(folder, 'sallyport.service', 'unit',
    (unit) => serviceProblem(unit, runs, home), `In ${folder}, chmod 600: ExecStart=`
    + '/PATH/TO/sallyport serve, KillMode=mixed and TimeoutStopSec=150.')
  if (socket.length === 0 || service.length > 0) return [...socket, ...service]
  return [...socket, {
    name: 'service unit', result: 'problem', text: 'there is a socket and no sallyport.service',
    next: 'Write it as `docs/start-at-login.md` says.',
  }]
}

const agentName = 'local.sallyport.serve.plist'

/** The recipe by which launchd would start it: nothing where there is none. */
const agentChecks = async (folder: string): Promise<readonly Check[]> => {
  const path = join(folder, agentName)
  const text = textOf(path)
  if (text === null) return []
  const { propertyListOf } = await import('./launchd/property-list.js')
  const { agentProblem } = await import('./launchd/agent-rules.js')
  const wrong = (statSync(path).mode & 0o022) !== 0
    ? 'may be changed by others: launchd does not load it'
    : agentProblem(propertyListOf(text), { kind: 'service', file: agentName, verb: 'serve', runs })
  return [wrong === null
    ? { name: 'service agent', result: 'ok', text: `${agentName} fits the service`, next: null }
    : {
        name: 'service agent', result: 'problem', text: `${agentName} ${wrong}`,
        next: 'Write it as `docs/start-at-login.md` says, chmod 600.',
      }]
}

/** Where devices of other machines find it: nothing where they find it nowhere. */
const publicCheck = (row: ServiceRow): readonly Check[] => {
  const { public: elsewhere } = identityOf(row)
  if (elsewhere === null) return []
  const text = `${elsewhere.origin}, forwarded to ${elsewhere.forward_to}`
  return [{ name: 'service elsewhere', result: 'ok', text, next: null }]
}

/** The checks. Throws what reading throws. */
export const serviceChecks = async (gov: Gov, process: NamesPlaces): Promise<readonly Check[]> => {
  const row = findService(gov.store, gov.store.read())
  if (row === undefined) return []
  const config = baseFolderIfNamed(process, 'XDG_CONFIG_HOME')
  return [
    processCheck(gov.store.dir),
    { name: 'service port', result: 'ok', text: `${row.port}, kept for good`, next: null },
    ...publicCheck(row),
    certificateCheck(row.certificate, gov.clock.wallMs()),
    ...(config === null ? []
      : recipeChecks(join(config, 'systemd', 'user'), row.port, process.home)),
    ...(isAbsolute(process.home) ? await agentChecks(libraryFolder(process, 'LaunchAgents')) : []),
  ]
}
