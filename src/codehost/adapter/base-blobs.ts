/** Reading files of a base by the ids of their blobs: GETs alone, each id computed anew. */
import { SallyportError } from '../../base/errors.js'
import { runOrder } from '../../contact/engine.js'
import type { Sent } from '../../contact/order.js'
import { requireOwnConnection } from '../../governance/connections/find-connection.js'
import type { Connection } from '../../governance/connections/connection-rows.js'
import type { Session } from '../../governance/context.js'
import type { View } from '../../state/types.js'
import { codehostLimits } from '../constants.js'
import type { CodehostContext } from '../context.js'
import { objectId, type ObjectId } from '../git/object-id.js'
import { contentsPerMinuteMax, replyLimits } from '../plan/plan-limits.js'
import { blobBytesOf } from '../replies/parse-reply.js'
import type { HostReplyOf } from '../replies/shapes.js'
import { hostPath, repositoryOf } from '../repository.js'
import { contradicts, orError, told, valueOf, type Told } from './base.js'
import { errorOf } from './look.js'
import { hostPace } from './pace.js'
import { inPool } from './pool.js'
import { readOrder, type Get } from './reads.js'

/** What is read, and who takes it. */
interface BlobsWish {
  readonly connectionId: string
  /** What asks: its verb's last word. */
  readonly noun: 'prepare' | 'preview'
  readonly ids: readonly ObjectId[]
  /** What every boundary of each GET requires besides; throws to refuse. */
  readonly requires: (view: View) => void
  /** Takes the bytes of one; null where it is larger than a reply may be. */
  readonly take: (id: ObjectId, bytes: Buffer | null) => void
}

const atOnce = 8
const tooLarge = 'reply_too_large'

const bytesOf = (
  wire: Sent<Told<HostReplyOf<'blob'>>>, id: ObjectId, through: Connection,
): Buffer | null => {
  if (wire.kind === 'sent' && wire.reason === tooLarge) return null
  const reply = valueOf(wire, through)
  const bytes = blobBytesOf(reply)
  if (reply.sha !== id || objectId('blob', bytes) !== id) throw contradicts('file')
  return bytes
}

const readAll = async (
  { gov, signal }: CodehostContext, get: Get, through: Connection, { ids, take }: BlobsWish,
): Promise<true> => {
  const name = repositoryOf(through.repository)
  const pace = hostPace(gov, contentsPerMinuteMax, signal)
  await inPool(ids, atOnce, async (id) => {
    await pace()
    const wire = await get(hostPath.blob(name, id), told('blob'), replyLimits.blob)
    take(id, bytesOf(wire, id, through))
  })
  return true
}

/**
 * Reads them. Throws `remote` for what the host refuses or does not answer, and
 * `host_reply_invalid` where bytes are not those of their id.
 */
export const readBlobs = async (
  ctx: CodehostContext, session: Session, wish: BlobsWish,
): Promise<void> => {
  const [first] = wish.ids
  if (first === undefined) return
  const connection = requireOwnConnection(ctx.gov.store.read(), session, wish.connectionId)
  const read = await runOrder(ctx, readOrder<true | SallyportError, true | SallyportError>(
    ctx, session, connection, {
      step: 'blobs', verb: `codehost ${wish.noun}`, noun: wish.noun,
      operationMsMax: codehostLimits.blobsMsMax, connectionId: wish.connectionId,
      path: hostPath.blob(repositoryOf(connection.repository), first), requires: wish.requires,
      read: (get) => orError(() => readAll(ctx, get, connection, wish)),
      unsent: (why) => errorOf(why),
      close: (_tx, _now, _run, { evidence }) => ({
        kept: evidence, outcome: evidence === true ? 'read' : 'refused', adopts: false,
      }),
    },
  ))
  if (read instanceof SallyportError) throw read
}
