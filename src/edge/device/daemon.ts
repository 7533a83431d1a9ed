/**
 * Sends what waits, in order, to the paired service alone (S-027, S-028, S-036 to S-041, S-197).
 *
 * A number is durable before the first byte that carries it, and a capture leaves the spool only
 * when the service named it in its answer. So whatever ends this process, and wherever, the same
 * request goes out again under the same id and number, and the service stores it once.
 */
import { isoFromMs } from '../../base/clock.js'
import { fail, SallyportError } from '../../base/errors.js'
import { afterContact } from '../../base/outcome.js'
import { tryHoldFile } from '../../state/holds/kernel-file.js'
import { ContactError } from '../../net/contact-error.js'
import type { HttpsReply } from '../../net/types.js'
import { refuseLeakyRuntime } from '../../net/leaky-runtime.js'
import { gapAfter } from './backoff.js'
import { Bell } from './bell.js'
import { blockedBy } from './blocklist.js'
import type { DeviceContext } from './capture.js'
import type { DaemonEvent, DaemonRequest } from './daemon-contract.js'
import { EvictionReport } from './eviction-report.js'
import { endFormer, formerOf, sweepUnwritten } from './former.js'
import { openDeviceFolder, type DevicePlaces } from './folder.js'
import { Origin, redeem, type OriginDeps } from './origin.js'
import { findPairing, pairingEnded, readPairing, writePairing, type Pairing } from './pairing.js'
import type { PairingString } from './pairing-string.js'
import { endsPairing, errorCodeOf, reactionTo, type Reaction } from './reaction.js'
import { Numbers } from './sending.js'
import { readSettings, type DeviceSettings } from './settings.js'
import type { Capture } from './spool/item.js'
import type { Entry } from './spool/queue.js'
import { Spool } from './spool/spool.js'

/** What a daemon needs beside what every use case of a device does. */
interface DaemonContext extends DeviceContext {
  readonly net: OriginDeps
  /** From 0 up to 1. */
  readonly chance: () => number
  tell(event: DaemonEvent): void
}

interface DaemonStart extends DaemonRequest {
  /** A pairing to redeem first. */
  readonly pairing: PairingString | null
  /** The machine's name, where the request gives none. */
  readonly hostName: string
}

/** Longest that what is too old stays while nothing can be sent, milliseconds. */
const napMs = 5_000

/**
 * Runs until it is stopped, or with `once` until nothing waits. Throws `locked`
 * `edge_daemon_running` where another one has the spool, `unauthorized` `edge_pairing_ended`,
 * `remote` `edge_not_sent` where `once` could not send everything, `edge_put_aside` where it put
 * something aside.
 */
export const runDaemon = async (ctx: DaemonContext, start: DaemonStart): Promise<DaemonEvent> => {
  refuseLeakyRuntime(ctx.net.env, ctx.net.execArgv)
  const places = openDeviceFolder(ctx.files, ctx.dir)
  const settings = readSettings(ctx.files, places.settings)
  const lock = tryHoldFile(places.daemonLock)
  if (lock === null) {
    throw fail.locked('edge_daemon_running', 'Another daemon sends from this spool.', {
      next: 'One is enough: it sends whatever is captured.',
    })
  }
  const bell = new Bell(places.ids, ctx.signal)
  const asked = { any: false }
  try {
    sweepUnwritten(ctx.files, places)
    if (start.pairing !== null) {
      await pair(ctx, places, settings, start, start.pairing)
      asked.any = true
    }
    return await new Daemon(ctx, places, settings, bell, asked).run(start.once === true)
  } catch (error) {
    // A pairing that is taken away later: the status of a refusal would say that nothing was sent.
    throw asked.any && error instanceof SallyportError ? afterContact(error, 'remote') : error
  } finally {
    bell.close()
    lock.release()
  }
}

const stamp = ({ clock }: DeviceContext): string => isoFromMs(Math.max(0, clock.wallMs()))

const pair = async (
  ctx: DaemonContext, places: DevicePlaces, { retry }: DeviceSettings,
  { device_name, hostName }: DaemonStart, given: PairingString,
): Promise<void> => {
  const terms = { timeoutMs: retry.timeout_ms, signal: ctx.signal }
  await ctx.at('daemon.redeeming')
  const paired = await redeem(ctx.net, given, device_name ?? hostName, terms)
  const { last_sequence, ...known } = paired
  writePairing(ctx.files, places.pairing, {
    schema: 'sallyport.edge.pairing.v1', origin: given.origin, pin: given.pin,
    device_id: known.device_id, owner: known.owner, device_name: known.device_name,
    credential: known.credential, paired_at: stamp(ctx), ended_at: null,
    former: [...formerOf(findPairing(ctx.files, places.pairing))],
  })
  new Numbers(ctx.files, places.sending, known.device_id).raiseTo(last_sequence)
  ctx.tell({ event: 'paired', at: stamp(ctx), device_id: known.device_id })
}

class Daemon {
  readonly #ctx: DaemonContext
  readonly #places: DevicePlaces
  readonly #bell: Bell
  readonly #pairing: Pairing
  readonly #origin: Origin
  readonly #numbers: Numbers
  #settings: DeviceSettings
  readonly #report = new EvictionReport()
  /** Whether anything was sent to the service, or may have been. */
  readonly #asked: { any: boolean }
  #failures = 0
  /** Why each capture of this run was put aside. */
  readonly #aside: string[] = []
  /** The request that already got a new number because its first one was used up. */
  #renumbered: string | null = null

  constructor(
    ctx: DaemonContext, places: DevicePlaces, settings: DeviceSettings, bell: Bell,
    asked: { any: boolean },
  ) {
    this.#asked = asked
    const again = (): Pairing => readPairing(ctx.files, places.pairing)
    this.#ctx = ctx
    this.#places = places
    this.#settings = settings
    this.#bell = bell
    this.#pairing = again()
    this.#origin = new Origin(ctx.net, this.#pairing, again, {
      timeoutMs: settings.retry.timeout_ms, signal: ctx.signal,
    })
    this.#numbers = new Numbers(ctx.files, places.sending, this.#pairing.device_id)
  }

  async run(once: boolean): Promise<DaemonEvent> {
    const { signal, clock } = this.#ctx
    if (this.#pairing.ended_at !== null) throw pairingEnded()
    const { counts, lastEviction } = await this.#spool().look()
    this.#tell({
      event: 'ready', device_id: this.#pairing.device_id, spool: counts,
      evictions: lastEviction?.number ?? 0,
    })
    try {
      // Where it cannot be ended now, it is when nothing waits.
      await this.#endFormer()
      while (!signal.aborted) {
        const failed = await this.#turn()
        if (once && (failed === 'idle' || failed?.idle === true)) break
        if (failed === 'idle') await this.#bell.wait(clock)
        else if (failed !== null && once) throw this.#notSent(failed)
        else if (failed !== null) await this.#waitAfter(failed)
      }
    } catch (error) {
      if (!signal.aborted) throw error
    }
    const { counts: spool } = await this.#spool(false).look()
    const stopped: DaemonEvent = { event: 'stopped', at: stamp(this.#ctx), spool }
    const failed = once ? this.#leftOnce(spool.items) : null
    if (failed === null) return stopped
    this.#ctx.tell(stopped)
    throw failed
  }

  /** Whoever starts it by a timer looks at the status alone. */
  #leftOnce(items: number): SallyportError | null {
    if (this.#aside.length > 0) return this.#leftAside()
    return this.#ctx.signal.aborted && items > 0
      ? fail.cancelled('edge_daemon_stopped', 'You stopped it; what was not sent waits.') : null
  }

  /** One capture, or none: null when it went on, `idle` when nothing waits, else what failed. */
  async #turn(): Promise<'idle' | null | Failed> {
    if (!this.#readSettings()) return { reason: 'edge_settings_invalid', entry: null }
    const spool = this.#spool()
    const { entry, evicted, evictions } = await spool.front()
    for (const eviction of evicted) this.#tell({ event: 'evicted', eviction })
    this.#report.noted(evictions)
    if (entry === null) return await this.#endFormer() ?? await this.#tellEvictions() ?? 'idle'
    const capture = spool.read(entry)
    if (capture === 'gone') return null
    if (capture === 'damaged') return this.#putAside(entry, 'spool_item_damaged')
    const { source, file_name } = capture.facts
    if (blockedBy(this.#settings.blocklist, { source, file_name }) !== null) {
      const eviction = await spool.evict(entry, 'blocked')
      if (eviction !== null) this.#tell({ event: 'evicted', eviction })
      return null
    }
    return this.#heed(entry, await this.#send(capture))
  }

  /** While the settings cannot be read nobody knows what is blocked, and nothing is sent. */
  #readSettings(): boolean {
    try {
      this.#settings = readSettings(this.#ctx.files, this.#places.settings)
      return true
    } catch (error) {
      if (error instanceof SallyportError) return false
      throw error
    }
  }

  async #heed(
    entry: Entry, reaction: Reaction & { readonly sequence?: number },
  ): Promise<null | Failed> {
    if (reaction.kind === 'retry') return this.#later(entry, reaction)
    if (reaction.kind === 'ended') throw this.#end(reaction.status)
    this.#failures = 0
    if (reaction.kind === 'renumber') return this.#renumber(entry)
    if (reaction.kind === 'aside') return this.#putAside(entry, reaction.reason)
    await this.#ctx.at('daemon.stored')
    await this.#spool().remove(entry)
    await this.#ctx.at('daemon.removed')
    this.#tell({
      event: 'sent', request_id: entry.requestId, artifact_id: reaction.artifactId,
      sequence: reaction.sequence ?? 1,
    })
    // Where it cannot be told now, it is when nothing waits any more.
    await this.#tellEvictions()
    return null
  }

  /** A service that answers is told what left unsent: captures that it takes may never come. */
  async #later(
    entry: Entry, { reason, sequence }: { reason: string; sequence?: number },
  ): Promise<Failed> {
    const isAnswer = sequence !== undefined
    // A request that it knows it would have found: it has none of this one.
    if (isAnswer && reason === 'edge_store_full') this.#numbers.mark(false)
    if (isAnswer) await this.#tellEvictions()
    return { reason, entry }
  }

  /** How many captures left unsent, where the service was not told; null once it knows. */
  async #tellEvictions(): Promise<null | Failed> {
    const told = await this.#report.tell((evictions) =>
      this.#tried(() => this.#origin.tellEvictions(evictions)))
    if (told.kind === 'ended') throw this.#end(told.status)
    return told.kind === 'retry' ? { reason: told.reason, entry: null, idle: true } : null
  }

  /** Ends the pairings that this one replaced; null once none is left. */
  async #endFormer(): Promise<null | Failed> {
    const reason = await endFormer(this.#ctx.files, this.#places.pairing,
      (former) => this.#tried(() => this.#origin.endFormer(former)),
      (replaced) => this.#tell({ event: 'replaced', ...replaced }))
    return reason === null ? null : { reason, entry: null, idle: true }
  }

  async #putAside(entry: Entry, reason: string): Promise<null> {
    await this.#spool().setAside(entry, reason)
    this.#aside.push(reason)
    this.#tell({ event: 'aside', request_id: entry.requestId, reason })
    return null
  }

  /** A spool from an old copy counts too low: the service knows better, and is asked once. */
  async #renumber(entry: Entry): Promise<null | Failed> {
    if (this.#renumbered === entry.requestId) {
      return this.#putAside(entry, 'sequence_not_greater')
    }
    const failed = await this.#askLast()
    if (failed !== null) return { ...failed, entry }
    this.#renumbered = entry.requestId
    return null
  }

  /** Takes over the last number of the service. */
  async #askLast(): Promise<null | { reason: string }> {
    const { got, failed } = await this.#tried(() => this.#origin.lastSequence())
    if (got === null) return { reason: failed }
    if (typeof got === 'number') {
      this.#numbers.raiseTo(got)
      return null
    }
    if (endsPairing(got)) throw this.#end(got.status)
    return { reason: got.status === 200 ? 'reply_invalid' : errorCodeOf(got) }
  }

  async #send(capture: Capture): Promise<Reaction & { readonly sequence?: number }> {
    if (!this.#numbers.known) {
      const failed = await this.#askLast()
      if (failed !== null) return { kind: 'retry', ...failed }
    }
    const sequence = this.#numbers.numberFor(capture.facts.request_id)
    await this.#ctx.at('daemon.numbered')
    const { got, failed } = await this.#tried(() => this.#upload(capture, sequence))
    await this.#ctx.at('daemon.answered')
    if (got === null) return { kind: 'retry', reason: failed }
    return { ...reactionTo(got, capture.facts), sequence }
  }

  /** Where nothing left, it is known by then that the service has none of it. */
  async #upload(capture: Capture, sequence: number): Promise<HttpsReply> {
    const before = this.#numbers.mark(true)
    try {
      return await this.#origin.upload(capture, sequence)
    } catch (error) {
      if (error instanceof ContactError && error.contact === 'none') this.#numbers.mark(before)
      throw error
    }
  }

  /** Runs a request. What may be otherwise the next time is a reason to try again, never an end. */
  async #tried<T>(
    work: () => Promise<T>,
  ): Promise<{ got: T; failed: '' } | { got: null; failed: string }> {
    try {
      const got = await work()
      this.#asked.any = true
      return { got, failed: '' }
    } catch (error) {
      if (!(error instanceof ContactError)) throw error
      if (error.contact !== 'none') this.#asked.any = true
      if (error.kind === 'cancelled') throw error
      return { got: null, failed: error.code }
    }
  }

  #end(status: number): SallyportError {
    const { files } = this.#ctx
    const now = readPairing(files, this.#places.pairing)
    writePairing(files, this.#places.pairing, { ...now, ended_at: stamp(this.#ctx) })
    return pairingEnded({ status })
  }

  #notSent({ reason }: { reason: string }): SallyportError {
    return fail.remote('edge_not_sent', `Not everything that waits could be sent (${reason}).`, {
      reason, next: `What waits stays here. ${reason === 'edge_store_full'
        ? 'Pair this device anew: `sallyport edge pair` there, then its string here.'
        : 'Run it again when the service answers.'}`,
    })
  }

  #leftAside(): SallyportError {
    const reasons = [...new Set(this.#aside)].join(', ')
    return fail.remote('edge_put_aside', `Something will never be taken (${reasons}).`, {
      reason: this.#aside[0] ?? 'aside', details: { aside: this.#aside.length },
      next: 'It lies in the folder `aside` of this device. Where egress was refused, pair again '
        + 'with `sallyport edge pair --allow-cloud-egress` or `--allow-model-egress`, and capture '
        + 'it anew.',
    })
  }

  /** Waits longer after each failure; what grows too old meanwhile leaves all the same. */
  async #waitAfter({ reason, entry }: Failed): Promise<void> {
    const { clock, signal, chance } = this.#ctx
    this.#failures += 1
    const waitMs = gapAfter(this.#failures, this.#settings.retry, chance())
    this.#tell({ event: 'waiting', request_id: entry?.requestId ?? null, reason, wait_ms: waitMs })
    const untilMs = clock.monotonicMs() + waitMs
    for (;;) {
      const leftMs = untilMs - clock.monotonicMs()
      if (leftMs <= 0) return
      await clock.sleep(Math.min(leftMs, napMs), signal)
      const { evicted } = await this.#spool().front()
      for (const eviction of evicted) this.#tell({ event: 'evicted', eviction })
    }
  }

  /** The spool under the limits of now. The daemon waits for its lock as long as it takes. */
  #spool(stops = true): Spool {
    const { files, clock, at, signal } = this.#ctx
    return new Spool({
      files, clock, at, places: this.#places, limits: this.#settings.limits,
      waitMs: Number.MAX_SAFE_INTEGER, signal: stops ? signal : new AbortController().signal,
    })
  }

  #tell(event: Distributed<DaemonEvent>): void {
    this.#ctx.tell({ at: stamp(this.#ctx), ...event })
  }
}

interface Failed {
  readonly reason: string
  readonly entry: Entry | null
  /** Nothing waits: it is only what is said beside captures that could not be told. */
  readonly idle?: true
}

/** An event without its time. */
type Distributed<E> = E extends unknown ? Omit<E, 'at'> : never
