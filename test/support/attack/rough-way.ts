/**
 * A way to a server on which anything may happen to any piece of either direction: it comes late,
 * it is held, it is cut in two, its answer is lost, both ends are reset, or the line goes silent
 * for good without anybody being told. Which of these, chance says.
 */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Teardown } from '../../world/place.js'
import type { Chance } from '../chance.js'

/** What happens to a piece, by how often of a thousand. */
const perMille = {
  late: 50, held: 3, halved: 2, reset: 4, answer_lost: 4, silent: 1,
} as const
type Fate = keyof typeof perMille | 'goes on'

/** Longest of `late` and of `held`, ms. */
const [lateMs, heldMs] = [50, 2_000]

/** Such a way. */
export interface RoughWay {
  readonly port: number
  /** Whether anything happens. Connections that went silent before are reset when it ends. */
  setRough(rough: boolean): void
  /** How often what happened. */
  readonly counts: Readonly<Record<string, number>>
}

interface Line {
  readonly asking: Socket
  readonly answering: Socket
  isSilent: boolean
  /** Nothing comes behind the half of a piece: bytes are lost at the end of a stream alone. */
  isCut: boolean
}

const reset = ({ asking, answering }: Line): void => {
  asking.resetAndDestroy()
  answering.resetAndDestroy()
}

const fateOf = (chance: Chance, isAnswer: boolean): Fate => {
  let left = chance.below(1_000)
  for (const [fate, often] of Object.entries(perMille) as [keyof typeof perMille, number][]) {
    if (left < often) return fate === 'answer_lost' && !isAnswer ? 'goes on' : fate
    left -= often
  }
  return 'goes on'
}

/** Starts one; `portOf` is asked for the server's port at each connection. */
export const startRoughWay = async (
  t: Teardown, portOf: () => number, chance: Chance,
): Promise<RoughWay> => {
  const lines = new Set<Line>()
  const counts: Record<string, number> = {}
  let isRough = false
  const pass = async (line: Line, from: Socket, to: Socket, piece: Buffer): Promise<void> => {
    const isAnswer = from === line.answering
    const fate = isRough ? fateOf(chance, isAnswer) : 'goes on'
    if (fate !== 'goes on') counts[fate] = (counts[fate] ?? 0) + 1
    if (fate === 'late') await sleep(chance.below(lateMs))
    if (fate === 'held') await sleep(chance.below(heldMs))
    if (fate === 'reset' || fate === 'answer_lost') return reset(line)
    if (fate === 'silent') line.isSilent = true
    if (line.isSilent || line.isCut) return
    to.write(fate === 'halved' ? piece.subarray(0, piece.length >> 1) : piece)
    if (fate !== 'halved') return
    line.isCut = true
    setTimeout(() => reset(line), chance.below(lateMs))
  }
  const joinUp = (line: Line, from: Socket, to: Socket): void => {
    from.setNoDelay(true)
    from.on('error', () => undefined)
    from.on('data', (piece: Buffer) => {
      from.pause()
      void pass(line, from, to, piece).then(() => from.resume())
    })
    from.on('end', () => void (line.isSilent || to.end()))
    from.on('close', () => {
      // Who is silent does not tell the other end that this one is gone.
      if (line.isSilent) return
      lines.delete(line)
      to.destroy()
    })
  }
  const server = createServer({ allowHalfOpen: true }, (asking) => {
    const answering = connect({ port: portOf(), host: '127.0.0.1', allowHalfOpen: true })
    const line = { asking, answering, isSilent: false, isCut: false }
    lines.add(line)
    joinUp(line, asking, answering)
    joinUp(line, answering, asking)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const end = (which: (line: Line) => boolean): void => {
    for (const line of [...lines].filter(which)) {
      lines.delete(line)
      reset(line)
    }
  }
  t.teardown(() => {
    end(() => true)
    server.close()
  })
  return {
    port: (server.address() as AddressInfo).port, counts,
    setRough(rough) {
      isRough = rough
      if (!rough) end(({ isSilent }) => isSilent)
    },
  }
}
