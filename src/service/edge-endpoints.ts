/**
 * What paired devices may ask: redeeming a code, their own pairing, sending a capture, reading it
 * back. An operator's session reads back what its own devices sent. Everything that can be refused
 * is refused before a byte of the body is read; what was refused or cut off leaves none.
 */
import type { IncomingMessage } from 'node:http'
import { fail, SallyportError } from '../base/errors.js'
import { parseStrictJson } from '../base/strict-json.js'
import { edgeLimits, edgeMimes } from '../edge/constants.js'
import {
  edgeEnd, edgePairing, edgeRedeem, edgeShow, edgeSpool, edgeUpload, type UploadHead,
} from '../edge/edge-contract.js'
import { authenticateEdge, type EdgeParty } from '../edge/credential.js'
import { endOwnPairing } from '../edge/end-own.js'
import { redeemPairing } from '../edge/pairing.js'
import { edgeArtifact, openEdgeBytes } from '../edge/readback.js'
import { keepSpoolTold } from '../edge/spool-told.js'
import { beginUpload, uploadTooLarge, type Upload } from '../edge/upload.js'
import { isSaidOfRequest } from '../edge/verdicts.js'
import { recoverState } from '../fabric/recovery.js'
import { requireSound } from '../governance/anchored.js'
import { authenticate } from '../governance/session/authenticate.js'
import type { Session } from '../governance/context.js'
import { followWithin } from './following.js'
import { hasBody, readBody, requireJson } from './http/body.js'
import { bearerOf } from './http/raw-check.js'
import { HttpRefusal, refusal } from './http/refusal.js'
import { ClientGone, commonHeaders, endTaken, roomIn, takenWithin } from './http/send.js'
import { smallBody } from './route.js'
import { touchEveryMs } from './perform.js'
import { govOf, type Endpoint, type Exchange, type Site } from './service.js'

const artifactId = ({ params }: Exchange): string => params['artifact_id'] ?? ''

/** A capture has at most so many bytes of declared facts. */
const headCharsMax = 12_000
const headForm = /^[A-Za-z0-9_-]+$/

/** What is declared of an upload, out of its one header. Throws `rejected`. */
const headOf = (request: IncomingMessage): UploadHead => {
  const text = request.headers['sallyport-edge-upload']
  if (typeof text !== 'string' || text.length > headCharsMax || !headForm.test(text)) {
    throw fail.rejected('edge_head_invalid', 'What is declared of the upload is missing or no '
      + 'base64url of a JSON object.', { details: { chars_max: headCharsMax } })
  }
  return edgeUpload.request(parseStrictJson(Buffer.from(text, 'base64url'), {
    bytesMax: headCharsMax, depthMax: 3,
  }))
}

/** No upload has more than this, whatever it was paired for: asked before anything else of it. */
const requireSize = (bytes: number): void => {
  const { artifactBytesMax: bytesMax } = edgeLimits
  if (bytes > bytesMax) throw uploadTooLarge(bytesMax)
}

const requireLength = ({ headers }: IncomingMessage): void => {
  const length = headers['content-length']
  if (length === undefined) throw refusal.length()
  requireSize(Number(length))
}

/** What the request itself declares must be what the head says. */
const requireFraming = ({ headers }: IncomingMessage, { bytes, mime }: UploadHead): void => {
  requireSize(bytes)
  if (Number(headers['content-length']) !== bytes) {
    throw fail.rejected('size_differs', 'Content-Length is not the size that was declared.', {
      reason: 'rule',
    })
  }
  if (headers['content-type'] !== mime) throw refusal.mediaType(mime)
  const { 'content-encoding': encoding } = headers
  if (encoding !== undefined && encoding !== 'identity') throw refusal.mediaType(mime)
}

/** Hands every piece of the body to the upload; what it throws ends the reading. */
const pour = ({ request, response, expectsContinue }: Exchange, upload: Upload): Promise<void> => {
  if (expectsContinue && !request.destroyed) response.writeContinue()
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => end(refusal.slow()), edgeLimits.artifactMsMax)
    const end = (error: Error | null): void => {
      clearTimeout(late)
      request.off('data', take).off('end', whole).off('close', cut).off('error', cut)
      if (error === null) return resolve()
      request.pause()
      upload.abandon()
      reject(error)
    }
    const take = (chunk: Buffer): void => {
      try {
        upload.write(chunk)
      } catch (error) {
        end(error as Error)
      }
    }
    const whole = (): void => end(request.complete ? null : refusal.cutShort())
    const cut = (): void => end(refusal.cutShort())
    // Who went away meanwhile is not told of again; the device could send nothing till it was late.
    if (request.destroyed) return cut()
    request.on('data', take).on('end', whole).on('close', cut).on('error', cut)
  })
}

/** Between two pieces of a body that goes out other machines are asked no oftener, ms. */
const betweenPiecesMs = 1_000

/**
 * The device of a request, as all machines know it; `withinMs`: see `followWithin`. Nobody is asked
 * for a stranger, and no stranger is told how the place is reached: it is judged by the rows here
 * first. Throws as `authenticateEdge` and as `followWithin`.
 */
const deviceOf = async (
  site: Site, store: Parameters<typeof govOf>[0], { request, known }: Exchange, withinMs = 0,
): Promise<EdgeParty> => {
  const party = (): EdgeParty =>
    authenticateEdge(govOf(store, site.world), store.read(), bearerOf(request))
  party()
  known()
  await followWithin(store, site.world.clock, withinMs)
  return party()
}

const partyOf = (site: Site, exchange: Exchange): Promise<EdgeParty> =>
  site.held.use((store) => deviceOf(site, store, exchange))

const upload: Endpoint = {
  method: 'POST', path: '/api/edge/artifacts', readsBody: true,
  described: {
    method: 'POST', path: '/api/edge/artifacts', contract: edgeUpload, verb: null, body: null,
    by: ['device'], status: 201, later: { status: 200, contract: edgeUpload },
    head: { name: 'Sallyport-Edge-Upload', contract: edgeUpload }, takes: edgeMimes,
    summary: 'Sends one capture; 200 for one that was stored before under its request id.',
  },
  answer: (exchange, site) => site.held.use(async (store) => {
    const gov = govOf(store, site.world)
    const party = await deviceOf(site, store, exchange)
    requireLength(exchange.request)
    const head = headOf(exchange.request)
    requireFraming(exchange.request, head)
    await recoverState(gov)
    const begun = await beginUpload(gov, party, head)
    if (begun.kind === 'known') return { status: 200, body: edgeUpload.answer(begun.artifact) }
    try {
      await pour(exchange, begun)
      const body = edgeUpload.answer(await begun.finish())
      site.takeIn()
      return { status: 201, body }
    } finally {
      begun.abandon()
    }
  }),
}

/** Makes a device of a one-time code; the one answer that holds its credential. */
const pairing: Endpoint = {
  method: 'POST', path: '/api/edge/pairings', readsBody: true,
  described: {
    method: 'POST', path: '/api/edge/pairings', contract: edgeRedeem, verb: null, by: [],
    body: { shape: edgeRedeem.input, required: true, bytesMax: smallBody }, status: 201,
    summary: 'Makes a device of a one-time code; the one answer that holds its credential.',
  },
  answer: async (exchange, site) => {
    const { request, response, expectsContinue } = exchange
    if (!hasBody(request)) throw refusal.needsBody()
    requireJson(request, smallBody)
    const body = await readBody({ request, response, bytesMax: smallBody, expectsContinue })
    const given = edgeRedeem.request(parseStrictJson(body, { bytesMax: smallBody, depthMax: 2 }))
    try {
      return await site.held.use(async (store) => ({
        status: 201,
        body: edgeRedeem.answer(await redeemPairing(govOf(store, site.world), given)),
      }))
    } catch (error) {
      if (error instanceof SallyportError && error.code === 'edge_code_refused') {
        const { clock, stop } = site.world
        const waitMs = site.wrongCodes.waitMs(clock.monotonicMs())
        // At the end of the service it is given at once.
        if (waitMs > 0) await clock.sleep(waitMs, stop).catch(() => undefined)
      }
      throw error
    }
  },
}

const ownPairing: Endpoint = {
  method: 'GET', path: '/api/edge/pairing',
  described: {
    method: 'GET', path: '/api/edge/pairing', contract: edgePairing, verb: null, body: null,
    by: ['device'], status: 200, summary: 'The device of the credential.',
  },
  answer: async (exchange, site) => ({
    status: 200, body: edgePairing.answer(await partyOf(site, exchange)),
  }),
}

/** What a device says of its own spool. */
const spool: Endpoint = {
  method: 'POST', path: '/api/edge/pairing/spool', readsBody: true,
  described: {
    method: 'POST', path: '/api/edge/pairing/spool', contract: edgeSpool, verb: null,
    by: ['device'], status: 200,
    body: { shape: edgeSpool.input, required: true, bytesMax: smallBody },
    summary: 'Says how many captures ever left the spool of the device unsent; it only grows.',
  },
  answer: async (exchange, site) => {
    const { request, response, expectsContinue } = exchange
    await partyOf(site, exchange)
    if (!hasBody(request)) throw refusal.needsBody()
    requireJson(request, smallBody)
    const body = await readBody({ request, response, bytesMax: smallBody, expectsContinue })
    const told = edgeSpool.request(parseStrictJson(body, { bytesMax: smallBody, depthMax: 2 }))
    return site.held.use(async (store) => {
      const gov = govOf(store, site.world)
      const party = authenticateEdge(gov, store.read(), bearerOf(request))
      const device = await keepSpoolTold(gov, party, told)
      return { status: 200, body: edgeSpool.answer({ device }) }
    })
  },
}

/** The end of a pairing that another one of the device has replaced. */
const ending: Endpoint = {
  method: 'POST', path: '/api/edge/pairing/end',
  described: {
    method: 'POST', path: '/api/edge/pairing/end', contract: edgeEnd, verb: null, body: null,
    by: ['device'], status: 200,
    summary: 'Ends the pairing of the credential itself: the device was paired again.',
  },
  answer: async (exchange, site) => {
    const party = await partyOf(site, exchange)
    return site.held.use(async (store) => {
      const device = await endOwnPairing(govOf(store, site.world), party)
      return { status: 200, body: edgeEnd.answer({ device }) }
    })
  },
}

type FindReader = (...asked: Parameters<typeof deviceOf>) => Promise<EdgeParty | Session>

/** A device by its credential, or an operator by the token of a session. */
const readerOf: FindReader = async (site, store, exchange, withinMs) => {
  const token = bearerOf(exchange.request)
  if (token?.startsWith('spe_') === true) return deviceOf(site, store, exchange, withinMs)
  requireSound(store)
  return authenticate(govOf(store, site.world), token, { touchEveryMs })
}

const metadata = (findReader: FindReader): Endpoint => ({
  method: 'GET', path: '/api/edge/artifacts/{artifact_id}',
  described: {
    method: 'GET', path: '/api/edge/artifacts/{artifact_id}', contract: edgeShow, body: null,
    verb: 'edge artifacts CAPTURE', by: ['device', 'session'], status: 200,
    summary: 'What is known of a capture.',
  },
  answer: (exchange, site) => site.held.use(async (store) => {
    const by = await findReader(site, store, exchange)
    const artifact = edgeArtifact(store.read(), by, artifactId(exchange))
    return { status: 200, body: edgeShow.answer(artifact) }
  }),
})

/** The bytes of one, piece by piece; no byte of a piece before its tag was verified. */
const bytes = (findReader: FindReader): Endpoint => ({
  method: 'GET', path: '/api/edge/artifacts/{artifact_id}/bytes',
  described: {
    method: 'GET', path: '/api/edge/artifacts/{artifact_id}/bytes', contract: edgeShow, body: null,
    verb: 'edge artifacts CAPTURE', by: ['device', 'session'], status: 200, gives: edgeMimes,
    summary: 'The bytes of a capture, as they were sent.',
  },
  answer: (exchange, site) => site.held.use(async (store) => {
    const { response, requestId } = exchange
    const gov = govOf(store, site.world)
    const by = await findReader(site, store, exchange)
    const { artifact, reader } = openEdgeBytes(gov, store.read(), by, artifactId(exchange))
    try {
      const pieces = reader.pieces()
      let piece = pieces.next()
      const leftMs = takenWithin(site.world, edgeLimits.artifactMsMax)
      response.writeHead(200, {
        ...commonHeaders(requestId), 'Content-Type': artifact.mime,
        'Content-Length': String(artifact.ref.bytes), 'Content-Disposition': 'attachment',
      })
      while (piece.done !== true) {
        // Whoever may not read any more gets no more of it.
        await findReader(site, store, exchange, betweenPiecesMs)
        if (!response.write(piece.value)) await roomIn(response, leftMs)
        piece = pieces.next()
      }
      endTaken(response, undefined, Math.max(0, leftMs()))
    } catch (error) {
      // A reply that was begun can only be cut off: its length says that it was, the log why.
      if (!(error instanceof ClientGone)) throw error
      response.destroy()
    } finally {
      reader.close()
    }
    return null
  }),
})

/**
 * Devices go by status and code, and put a capture aside for what is said of it. How the state
 * stands meanwhile, in whatever words, is no word on a request: it is for later.
 */
const later = (error: unknown): unknown => {
  const isOfState = error instanceof SallyportError && !isSaidOfRequest(error.code)
    && (error.kind === 'conflict' || error.kind === 'rejected')
  return isOfState ? new HttpRefusal(503, error) : error
}

const ofDevices = [pairing, ownPairing, spool, ending, upload].map((endpoint): Endpoint => ({
  ...endpoint,
  answer: (exchange, site) =>
    endpoint.answer(exchange, site).catch((error: unknown) => Promise.reject(later(error))),
}))

/** The endpoints. */
export const edgeEndpoints: readonly Endpoint[] = [
  ...ofDevices, metadata(readerOf), bytes(readerOf),
]

/** Those for machines elsewhere: a session opens nothing there (S-195). */
export const elsewhereEndpoints: readonly Endpoint[] = [
  ...ofDevices, metadata(deviceOf), bytes(deviceOf),
]
