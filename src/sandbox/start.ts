import { join } from 'node:path'
import { systemClock, type Clock } from '../base/clock.js'
import type { TlsMaterial } from './certificates.js'
import { newCodehost, type Codehost, type CodehostTokens } from './codehost/codehost.js'
import type { CodehostStore } from './codehost/store.js'
import { controlHandler } from './control.js'
import { newFaultBoard, type Faults } from './faults/board.js'
import {
  codehostFolder, folderFiles, openFolder, prepareFolder, saveSettings, writePrivate, type Ports,
} from './folder.js'
import { newGateway } from './gateway/gateway.js'
import { newRequestLog, type RequestLog } from './log.js'
import { newProvider, type Provider } from './provider/provider.js'
import { startService, type Shared } from './service-server.js'
import { startTlsServer, type TlsServer } from './tls-server.js'
import { serviceNames, type SandboxHooks, type ServiceModule } from './types.js'

/** The deployment profile of a sandbox; `ca_file` is accepted because every host is loopback. */
interface SandboxProfile {
  readonly schema: 'sallyport.profile.v1'
  readonly name: string
  readonly provider: { readonly name: string; readonly base_url: string; readonly model_id: string }
  readonly gateway: { readonly base_url: string }
  readonly codehost: { readonly base_url: string }
  readonly ca_file: string
}

/** How a sandbox is started. */
export interface SandboxOptions {
  /** Its folder; certificate, ports and token of an earlier start are kept there. */
  readonly dir: string
  readonly clock?: Clock
  readonly modelId?: string
  /** The host name in the profile's URLs. */
  readonly host?: '127.0.0.1' | '[::1]' | 'localhost'
  /** The one key that the provider accepts; left out, any. */
  readonly providerKey?: string
  /** The one key that the gateway accepts; left out, any. */
  readonly gatewayKey?: string
  /** Tokens that the code host knows; left out, any token may do everything. */
  readonly codehostTokens?: CodehostTokens
  /** Keeps bodies over 64 KiB of the code host's requests in the log, too. */
  readonly keepBodies?: boolean
  readonly hooks?: SandboxHooks
  /** Makes the folder this process's alone, or throws; gives what undoes that. */
  readonly claim?: (dir: string) => Promise<() => void>
  /** Used when the folder has none yet, so that many test sandboxes share one. */
  readonly tls?: TlsMaterial
}

/** A running sandbox. */
export interface Sandbox {
  readonly profile: SandboxProfile
  /** Absolute path of the profile for `init --profile`. */
  readonly profileFile: string
  /** Sample key files, mode 600, for `--api-key-file`. */
  readonly keyFiles: {
    readonly provider: string
    readonly gateway: string
    readonly codehost: string
  }
  readonly caPem: string
  /** The process that it runs in. */
  readonly pid: number
  /** Settles when somebody asked the control endpoint to end it. */
  readonly askedToStop: Promise<void>
  readonly ports: Ports
  /** Bearer token of the control endpoint. */
  readonly controlToken: string
  readonly faults: Faults
  readonly log: RequestLog
  readonly provider: Pick<Provider, 'recordCharge' | 'billingId'>
  /** The code host's repositories, for tests that look at them or change them. */
  readonly codehost: CodehostStore
  /** Ends every connection and frees every port; safe to call twice. */
  stop(): Promise<void>
}

const defaultModel = 'sandbox/plain-answer-1'

const profileOf = (options: SandboxOptions, ports: Ports): SandboxProfile => {
  const host = options.host ?? '127.0.0.1'
  return {
    schema: 'sallyport.profile.v1',
    name: 'sandbox',
    provider: {
      name: 'sandbox',
      base_url: `https://${host}:${ports.provider}/v1`,
      model_id: options.modelId ?? defaultModel,
    },
    gateway: { base_url: `https://${host}:${ports.gateway}/api/v1` },
    codehost: { base_url: `https://${host}:${ports.codehost}` },
    ca_file: join(options.dir, folderFiles.ca),
  }
}

/** Starts listeners one after the other; when one fails, those before it are closed. */
const startAll = async (
  starts: readonly (() => Promise<TlsServer>)[],
): Promise<readonly TlsServer[]> => {
  const servers: TlsServer[] = []
  try {
    for (const start of starts) servers.push(await start())
    return servers
  } catch (error) {
    await Promise.all(servers.map((server) => server.close()))
    throw error
  }
}

const writeFiles = async (dir: string, profile: SandboxProfile): Promise<void> => {
  await writePrivate(join(dir, folderFiles.profile), `${JSON.stringify(profile, null, 2)}\n`)
  // Any key is accepted unless a test names one; these are here to be passed by path.
  await writePrivate(join(dir, folderFiles.providerKey), 'sandbox-provider-key\n')
  await writePrivate(join(dir, folderFiles.gatewayKey), 'sandbox-gateway-key\n')
  await writePrivate(join(dir, folderFiles.codehostToken), 'sandbox-codehost-token\n')
}

/** The services, which learn their ports when they listen. */
const servicesOf = (
  options: SandboxOptions, ports: Ports, wallMs: () => number,
): { provider: Provider; gateway: ServiceModule; codehost: Codehost } => ({
  provider: newProvider({
    modelId: options.modelId ?? defaultModel,
    key: options.providerKey ?? null,
    port: () => ports.provider,
    wallMs,
  }),
  gateway: newGateway({ key: options.gatewayKey ?? null, port: () => ports.gateway, wallMs }),
  codehost: newCodehost({
    tokens: options.codehostTokens ?? { writer: null },
    dir: join(options.dir, codehostFolder),
    host: options.host ?? '127.0.0.1',
    port: () => ports.codehost,
    wallMs,
  }),
})

/**
 * Starts the embedded outside world on loopback with real TLS. Throws `sandbox_dir_not_empty`
 * (rejected) and `sandbox_port_taken` (conflict: this folder's sandbox probably runs already).
 */
export const startSandbox = async (options: SandboxOptions): Promise<Sandbox> => {
  await prepareFolder(options.dir)
  const giveBack = await options.claim?.(options.dir) ?? (() => undefined)
  try {
    return await runFrom(options, giveBack)
  } catch (error) {
    giveBack()
    throw error
  }
}

const runFrom = async (options: SandboxOptions, giveBack: () => void): Promise<Sandbox> => {
  const folder = await openFolder(options.dir, options.tls)
  const clock = options.clock ?? systemClock
  const log = newRequestLog()
  const faults = newFaultBoard()
  const stopping = new AbortController()
  const ports = { ...folder.ports }
  const { provider, gateway, codehost } = servicesOf(options, ports, () => clock.wallMs())
  const { tls } = folder
  const shared: Shared = {
    tls, clock, log, faults, hooks: options.hooks ?? {}, keepBodies: options.keepBodies ?? false,
    signal: stopping.signal,
  }
  const facts = (): Record<string, unknown> => ({ pid: process.pid, ports })
  let asked: () => void = () => undefined
  const askedToStop = new Promise<void>((resolve) => { asked = resolve })
  const control = controlHandler({ token: folder.token, faults, log, facts, stop: () => asked() })
  const quiet = { onConnect: () => 0, onSecure: () => undefined }
  const servers = await startAll([
    () => startService(provider, ports.provider, shared),
    () => startService(gateway, ports.gateway, shared),
    () => startService(codehost, ports.codehost, shared),
    () => startTlsServer(tls, ports.control, quiet, control),
  ])
  const stop = async (): Promise<void> => {
    stopping.abort(new Error('the sandbox stops'))
    await Promise.all(servers.map((server) => server.close()))
    giveBack()
  }
  for (const [at, name] of [...serviceNames, 'control' as const].entries()) {
    ports[name] = servers[at]?.port ?? 0
  }
  const profile = profileOf(options, ports)
  try {
    await writeFiles(options.dir, profile)
    await saveSettings(folder, ports)
  } catch (error) {
    await stop()
    throw error
  }
  return {
    profile,
    profileFile: join(options.dir, folderFiles.profile),
    keyFiles: {
      provider: join(options.dir, folderFiles.providerKey),
      gateway: join(options.dir, folderFiles.gatewayKey),
      codehost: join(options.dir, folderFiles.codehostToken),
    },
    caPem: tls.caPem,
    pid: process.pid,
    askedToStop,
    ports,
    controlToken: folder.token,
    faults,
    log,
    provider,
    codehost: codehost.store,
    stop,
  }
}
