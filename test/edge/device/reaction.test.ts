/** What a device makes of the reply to an upload. */
import t from 'tap'
import { reactionTo } from '../../../src/edge/device/reaction.js'

const sent = {
  request_id: 'one', sha256: 'a'.repeat(64), bytes: 3,
} as Parameters<typeof reactionTo>[1]

const artifact = 'edge_art_00000000-0000-4000-8000-000000000001'

t.test('a capture counts as stored only where the reply says where it ends', (t) => {
  const body = Buffer.from(JSON.stringify({ artifact_id: artifact, ...sent }))
  const told = (headers: Readonly<Record<string, string>>) => reactionTo({
    status: 201, body,
    headers: new Map(Object.entries(headers).map(([name, value]) => [name, [value]])),
  }, sent)
  const stored = { kind: 'stored', artifactId: artifact }
  t.strictSame(told({ 'content-length': String(body.length) }), stored)
  t.strictSame(told({ 'transfer-encoding': 'chunked' }), stored)
  t.strictSame(told({}), { kind: 'retry', reason: 'reply_invalid' }, 'it may have been cut short')
  t.end()
})
