/** The files of the page: the same for everybody, and nothing of the state in them. */
import { readFileSync } from 'node:fs'
import { pageMarkup } from './markup.js'
import type { policies } from './send-text.js'
import { pageStyle } from './style.js'

interface PageFile {
  readonly path: string
  readonly type: string
  readonly text: () => string
  readonly policy: keyof typeof policies
}

const icon = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">'
  + '<rect width="32" height="32" rx="7" fill="#2f5d8c"/>'
  + '<path d="M9 25V14a7 7 0 0 1 14 0v11h-4V14a3 3 0 0 0-6 0v11z" fill="#fff"/></svg>\n'

let script: string | null = null

/** The page's own program, built beside this one. */
const scriptText = (): string =>
  (script ??= readFileSync(new URL('./page-script.js', import.meta.url), 'utf8'))

/** The files, by their paths. */
export const pageFiles: readonly PageFile[] = [
  { path: '/', type: 'text/html', text: () => pageMarkup, policy: 'page' },
  { path: '/page.css', type: 'text/css', text: () => pageStyle, policy: 'part' },
  { path: '/page.js', type: 'text/javascript', text: scriptText, policy: 'part' },
  { path: '/icon.svg', type: 'image/svg+xml', text: () => icon, policy: 'part' },
]
