/**
 * What the page may ask: a closed list of the operators' routes, by the paths that they have
 * for everybody, and its own few. Each is asked with a run token of this process; the token of a
 * session and the credential of a device open nothing here. What the page asks by itself is no use
 * of its session; what a person does in it is.
 */
import type { IncomingMessage } from 'node:http'
import * as v from 'valibot'
import { fail } from '../../base/errors.js'
import { closedObject, parseClosed } from '../../base/schema.js'
import { parseStrictJson } from '../../base/strict-json.js'
import { requireSound } from '../../governance/anchored.js'
import { toldDocument } from '../../base/told-document.js'
import { nameInForce } from '../../fabric/names/look-up.js'
import { authenticate } from '../../governance/session/authenticate.js'
import { html } from '../../observations/html/markup.js'
import { reportPage } from '../../observations/html/page.js'
import type { ReportDocument } from '../../shots/report/report-contract.js'
import { readBody, requireJson } from '../http/body.js'
import { bearerOf } from '../http/raw-check.js'
import { refusal } from '../http/refusal.js'
import { keyOf, smallBody, type Route } from '../route.js'
import { routes } from '../routes/table.js'
import { touchEveryMs } from '../perform.js'
import {
  govOf, operatorEndpoint, requireSomebody, type Endpoint, type Exchange, type Site,
} from '../service.js'
import { pageClose, pageOffer, pageOpen, pageReport } from './page-contract.js'
import type { PageDesk } from './desk.js'
import { pageFiles } from './files.js'
import { picture } from './picture.js'
import { dayRoute } from './routes.js'
import { sendText } from './send-text.js'

// What a tab shows whose link was used before, or whose time is over.

/** The page; it has no script and loads nothing. */
const usedLinkPage = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Sallyport</title>
<style>body { font: 1rem/1.5 system-ui, sans-serif; max-width: 34rem; margin: 4rem auto; padding:
0 1rem } :root { color-scheme: light dark }</style></head>
<body><main><h1>This link shows nothing any more</h1><p>A report is shown once under its link. Open
it again from the page of Sallyport. If that says that its session has ended, log in
first.</p></main></body></html>`.text

const about = { code: 'request_invalid', what: 'the request' }

/** A scan of the folder that is configured: the page names no other. */
const scanShape = closedObject({})
/** Of all settings the page saves the folder alone. */
const folderShape = closedObject({ screenshot_folder: v.string() })

const reportKey = 'GET /api/observer/screenshot-report'

/** What the page may ask of the operators' routes, and which bodies it may send. */
const offered: Readonly<Record<string, v.GenericSchema | null>> = {
  'GET /api/overview': null,
  'POST /api/observer/screenshot-folder/scan': scanShape,
  'PUT /api/settings/screen-analysis': folderShape,
  'POST /api/policy/revoke': null,
  'POST /api/edge/devices/{device_id}/revoke': null,
}

const isUse = ({ method }: IncomingMessage): boolean => method !== 'GET'

const narrowed = (route: Route, shape: v.GenericSchema | null): Route =>
  (route.body === null || shape === null ? route : {
    ...route, body: { ...route.body, required: true },
    check: ({ body }) =>
      void parseClosed(shape, parseStrictJson(body, { bytesMax: smallBody, depthMax: 2 }), about),
  })

const routeEndpoints = (desk: PageDesk): readonly Endpoint[] =>
  Object.entries(offered).map(([key, shape]) => {
    const route = routes.find((one) => keyOf(one) === key)
    if (route === undefined) throw new TypeError(`the page asks for no route: ${key}`)
    return operatorEndpoint(narrowed(route, shape), (request) =>
      ({ root: desk.keys.rootOf(bearerOf(request)), isUse: isUse(request) }))
  })

/** A day is looked at by a person, and is a use of the session. */
const dayEndpoint = (desk: PageDesk): Endpoint => operatorEndpoint(dayRoute, (request) =>
  ({ root: desk.keys.rootOf(bearerOf(request)), isUse: true }))

/** Gives a run token for a code. */
const opening = (desk: PageDesk): Endpoint => ({
  method: 'POST', path: '/api/page/open', readsBody: true,
  answer: async ({ request, response, expectsContinue }, site) => {
    requireJson(request, smallBody)
    const body = await readBody({ request, response, bytesMax: smallBody, expectsContinue })
    const { code } = pageOpen.request(parseStrictJson(body, { bytesMax: smallBody, depthMax: 2 }))
    const root = desk.keys.useCode(code)
    desk.used(code)
    await requireSomebody(site, { root, isUse: false })
    const opened = pageOpen.answer({ token: desk.keys.open(root), at: nameInForce(site.world) })
    return { status: 201, body: toldDocument(opened, pageOpen.output, site.carried) }
  },
})

const closing = (desk: PageDesk): Endpoint => ({
  method: 'POST', path: '/api/page/close',
  answer: async ({ request }) => {
    const token = bearerOf(request)
    desk.keys.rootOf(token)
    desk.keys.close(token)
    return { status: 200, body: pageClose.answer({ closed: true }) }
  },
})

/** A path that shows the report once: a tab of its own has no run token. */
const reportOffer = (desk: PageDesk): Endpoint => ({
  method: 'POST', path: '/api/page/report',
  answer: async ({ request }, site) => {
    const root = desk.keys.rootOf(bearerOf(request))
    await requireSomebody(site, { root, isUse: true })
    const path = `/report/${desk.keys.pass('report', root)}`
    return { status: 201, body: pageReport.answer({ path }) }
  },
})

/** Null where the pass is used up or too old, its session has ended, or no report can be made. */
const reportOf = async (
  desk: PageDesk, { params }: Exchange, { threads, carried }: Site,
): Promise<string | null> => {
  const root = desk.keys.find('report', params['pass'] ?? '')
  if (root === null) return null
  const asked = { params: {}, query: {}, body: new Uint8Array(), waitMs: 0 }
  const { status, body } = await threads.perform(reportKey, { root, isUse: true }, asked)
  if (status !== 200) return null
  return reportPage((body as ReportDocument).report, { carried })
}

/** The report of the report builder, once; whatever else is told as a page, too. */
const report = (desk: PageDesk): Endpoint => ({
  method: 'GET', path: '/report/{pass}',
  answer: async (exchange, site) => {
    const text = await reportOf(desk, exchange, site)
    sendText(exchange, {
      status: text === null ? 410 : 200, type: 'text/html', text: text ?? usedLinkPage,
      policy: 'report',
    })
    return null
  },
})

const fileEndpoints: readonly Endpoint[] = pageFiles.map(({ path, type, text, policy }) => ({
  method: 'GET', path,
  answer: async (exchange) => {
    const [first] = exchange.query.keys()
    if (first !== undefined) throw refusal.query('*')
    sendText(exchange, { type, text: text(), policy })
    return null
  },
}))

/** Everything that is answered where the page listens; to nobody but this machine. */
export const pageEndpoints = (desk: PageDesk): readonly Endpoint[] => [
  ...fileEndpoints, opening(desk), closing(desk), reportOffer(desk), report(desk),
  dayEndpoint(desk), picture(desk),
  ...routeEndpoints(desk),
].map((endpoint) => ({ ...endpoint, localOnly: true }))

const offerPath = '/api/page/offers'

/**
 * A new way into the page, asked of the service itself by the token of a session. Throws `blocked`
 * `page_not_served` where the service was started without a page.
 */
export const offerEndpoint = (desk: PageDesk | null): Endpoint => ({
  method: 'POST', path: offerPath, localOnly: true,
  described: {
    contract: pageOffer, method: 'POST', path: offerPath, verb: 'serve --open', body: null,
    status: 201, summary: 'A new way into the page, in a private file of this machine.',
  },
  answer: ({ request }, site) => site.held.use((store) => {
    requireSound(store)
    const { root } = authenticate(govOf(store, site.world), bearerOf(request), { touchEveryMs })
    if (desk === null) {
      throw fail.blocked('page_not_served', 'This service was started without a page.', {
        next: 'Start it again with `sallyport serve --page`.',
      })
    }
    return { status: 201, body: pageOffer.answer(desk.offer(root.root_id)) }
  }),
})
