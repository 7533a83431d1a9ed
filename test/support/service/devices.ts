/** Paired devices of a served world, and what they send over HTTP. */
import { createHash, randomUUID } from 'node:crypto'
import { offerPairing } from '../../../src/edge/pairing.js'
import type { LimitWishes } from '../../../src/edge/edge-contract.js'
import type { SignedIn } from '../../world/session.js'
import type { Stateful } from '../../world/state.js'
import type { Placed } from '../../world/world.js'
import { codeOf } from '../edge/uploading.js'
import type { Got, Serving } from './serving.js'

/** What is declared of a body. */
export const headOf = (body: Buffer, sequence: number, more: object = {}) => ({
  schema: 'sallyport.edge.upload.input.v1', request_id: randomUUID(), sequence,
  captured_at: '2026-11-20T10:00:00.000Z',
  sha256: createHash('sha256').update(body).digest('hex'), bytes: body.length,
  mime: 'image/png', policy: { cloud_egress: false, model_egress: false },
  purpose: 'screen_capture', ...more,
})

/** The header of what is declared. */
export const headText = (head: object | string): string =>
  Buffer.from(typeof head === 'string' ? head : JSON.stringify(head)).toString('base64url')

/** Sends one. */
export const sendOver = (
  at: Pick<Serving, 'ask'>, token: string | null, body: Buffer, head: object | string, headers = {},
): Promise<Got> => at.ask('POST', '/api/edge/artifacts', {
  token, body, headers: {
    'Content-Type': 'image/png', 'Sallyport-Edge-Upload': headText(head), ...headers,
  },
})

/** A line that pairs one device with a service elsewhere. */
export const offeredAt = async (
  world: Placed & Stateful & SignedIn,
  { origin, pin }: { readonly origin: string; readonly pin: string }, limits: LimitWishes = {},
): Promise<string> => {
  const gov = { ...world.gov, store: world.open('write') }
  return (await offerPairing(gov, world.session(), { origin, pin, limits })).pairing
}

/** A line that pairs one device with this service. */
export const offered = (
  world: Placed & Stateful & SignedIn, { started }: Serving, limits: LimitWishes = {},
): Promise<string> => offeredAt(world, started.identity, limits)

/** A device that is paired over HTTP. */
export const pairOver = async (
  world: Placed & Stateful & SignedIn, at: Serving, limits: LimitWishes = {},
): Promise<{ readonly credential: string; readonly device_id: string }> => {
  const got = await at.ask('POST', '/api/edge/pairings', {
    token: null, body: { code: codeOf(await offered(world, at, limits)), device_name: 'camera' },
  })
  if (got.status !== 201) throw new Error(got.bytes.toString())
  return got.json()
}
