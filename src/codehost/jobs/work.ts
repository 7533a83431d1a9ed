/**
 * The opened plan of a job, as the one pipeline sends it and reads it back, whatever kind it is of:
 * an issue or a comment is a publication of one POST without local work.
 */
import type { Running } from '../../contact/order.js'
import type { HttpsReply } from '../../net/types.js'
import type { HostAhead } from '../adapter/host-time.js'
import type { PostVerdict } from '../adapter/post-reply.js'
import type { Provenance } from '../adapter/provenance.js'
import type { Readback } from '../adapter/readback.js'
import type { CodehostContext } from '../context.js'
import type { Begun, Claimed, RunnableJob } from './claim.js'
import type { Made } from './publication/produce.js'
import type { EffectIdentity } from './receipt.js'
import type { Job } from './job-rows.js'

/** One POST of a job: what is sent, and what the host's words are compared with. */
export interface WorkPost extends EffectIdentity {
  /** The id that the host must answer with; null where the host chooses a number. */
  readonly id: string | null
  readonly replyBytesMax: number
  /** The sealed bytes; throws where they cannot be opened or are not the registered ones. */
  body(): Promise<Buffer>
  /** Judges the reply to it. Total. */
  judge(of: Provenance): (reply: HttpsReply) => PostVerdict
  /** How it is read back. Throws a defect where it needs a number and has none. */
  readback(remoteId: number | null, of: Provenance): Readback
}

/** What a run does besides. */
export interface WorkToRun {
  /** The whole operation, waiting included, milliseconds. */
  readonly operationMsMax: number
  /** What is looked at before; answers how far the host's clock is ahead. Throws to refuse. */
  look(ctx: CodehostContext, runnable: RunnableJob): Promise<HostAhead | null>
  /** What it is begun as, asked in the record of its claim; left out: as any. */
  readonly begun?: Begun
  /** The work on this machine that comes before the first POST; left out: there is none. */
  readonly produce?: (ctx: CodehostContext, run: Running<Claimed>) => Promise<Made>
}

/** An open plan; close it when done. */
export interface Work {
  /** `OWNER/NAME`. */
  readonly repository: string
  /** In the order in which they are sent. */
  readonly posts: readonly WorkPost[]
  /** Those whose readback proves all of it; the one that the host numbers first. */
  readonly proving: readonly WorkPost[]
  /** Throws what can be told of rows and keeps it from being begun. */
  toRun(): WorkToRun
  /** Behind a record of the job: what it needed on this machine goes, where that is over. */
  ended(job: Job): void
  close(): void
}
