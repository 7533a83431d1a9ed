/** What goes in and comes out of the page's own requests. */
import * as v from 'valibot'
import { command, commandLine } from '../../base/told.js'
import { contract } from '../../base/contract.js'
import { closedObject, nullableText, text } from '../../base/schema.js'
import type { OfferedPage } from './desk.js'

/** A way into the page: where the file with the one-time code lies, never the code. */
export const pageOffer = contract({
  name: 'page.offer',
  output: v.strictObject({ url: text, open_file: text, expires_at: text, pid: v.number() }),
  toDocument: ({ url, openFile, expiresAt }: OfferedPage) =>
    ({ url, open_file: openFile, expires_at: expiresAt, pid: process.pid }),
})

/** Exchanging a code: the one answer that holds a run token. */
export const pageOpen = contract({
  name: 'page.open',
  input: closedObject({ code: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{22}$/)) }),
  output: v.strictObject({
    token: text,
    /** Name of the state, for the title; null where it has none. */
    at: nullableText,
    /** Commands that the page tells by itself. */
    commands: v.strictObject({ login: command, open: command, pair: command, set_up: command }),
  }),
  toDocument: ({ token, at }: { readonly token: string; readonly at: string | null }) => ({
    token, at,
    commands: {
      login: commandLine('login'), open: commandLine('serve --open'),
      pair: commandLine('edge pair'), set_up: commandLine('setup'),
    },
  }),
})

/** A one-time path of the report, which a tab of its own shows. */
export const pageReport = contract({ name: 'page.report', output: v.strictObject({ path: text }) })

/** The page says that it is not needed any more. */
export const pageClose = contract({
  name: 'page.close',
  output: v.strictObject({ closed: v.literal(true) }),
})
