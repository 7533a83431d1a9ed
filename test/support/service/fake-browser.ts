/**
 * As much of a browser as the page's own program uses, in this process: elements by id, events, and
 * requests that really go to the page's listener. Each request is noted.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import type { Loose } from '../../world/place.js'
import { builtApp } from '../../world/process.js'
import type { Serving } from './serving.js'
import { askPage } from './paging.js'

type Heard = (event: { readonly key?: string, preventDefault(): void }) => void

/** An element: a name, its text, its children and who listens. */
export class FakePart {
  id = ''
  className = ''
  hidden = false
  disabled = false
  checked = false
  value = ''
  type = ''
  returnValue = ''
  width = 0
  height = 0
  open = false
  readonly children: FakePart[] = []
  readonly dataset: Record<string, string> = {}
  readonly style = { width: '', height: '' }
  /** Sizes of what was drawn to it, oldest first. */
  readonly drawn: (readonly [number, number])[] = []
  readonly attributes = new Map<string, string>()
  readonly classList = {
    add: () => undefined, remove: () => undefined, toggle: () => undefined,
  }
  readonly #heard = new Map<string, Heard[]>()
  #text = ''

  constructor(readonly tag: string) {}

  get textContent(): string {
    return this.#text + this.children.map(({ textContent }) => textContent).join('')
  }

  set textContent(text: string) {
    this.children.splice(0)
    this.#text = text
  }

  get innerHTML(): string {
    return JSON.stringify(this.children.map((one) => [
      one.tag, one.id, one.className, [...one.attributes], one.dataset, one.#text, one.innerHTML,
    ]))
  }

  get childElementCount(): number {
    return this.children.length
  }

  append(...more: readonly FakePart[]): void {
    this.children.push(...more)
  }

  prepend(one: FakePart): void {
    this.children.unshift(one)
  }

  replaceChildren(...more: readonly FakePart[]): void {
    this.children.splice(0, this.children.length, ...more)
  }

  contains(): boolean {
    return false
  }

  querySelectorAll(): readonly FakePart[] {
    return []
  }

  getAttribute(name: string): string | null {
    return this.attributes.get(name) ?? null
  }

  setAttribute(name: string, value: string): void {
    this.attributes.set(name, value)
  }

  addEventListener(kind: string, heard: Heard): void {
    this.#heard.set(kind, [...this.#heard.get(kind) ?? [], heard])
  }

  /** What a person does. */
  does(kind: string, event: { readonly key?: string } = {}): void {
    for (const heard of this.#heard.get(kind) ?? []) {
      heard({ ...event, preventDefault: () => undefined })
    }
  }

  getContext() {
    return {
      imageSmoothingQuality: '',
      drawImage: (_: unknown, _x: number, _y: number, width: number, height: number) =>
        void this.drawn.push([width, height]),
    }
  }

  focus(): void {}

  reset(): void {
    this.value = ''
  }

  showModal(): void {
    this.hidden = false
    this.open = true
  }

  close(): void {
    this.open = false
    this.does('close')
  }

  /** Every element below, itself first. */
  all(): FakePart[] {
    return [this, ...this.children.flatMap((child) => child.all())]
  }
}

/** A browser that has loaded the page. */
export interface FakeBrowser {
  at(id: string): FakePart
  /** What it asked for, and the document that it read of the answer, once it has. */
  readonly requests: {
    readonly line: string; readonly body: string | undefined; answer?: Loose
  }[]
  /** Addresses that tabs were led to. */
  readonly tabs: string[]
  /** What its address says. */
  readonly address: () => string
  /** What its tab says. */
  readonly title: () => string
}

/** Loads the page's program into a browser whose address ends in `hash`. */
export const browse = async (at: Serving, hash: string): Promise<FakeBrowser> => {
  const script = join(await builtApp(), 'page-script.js')
  const parts = new Map<string, FakePart>()
  const part = (id: string): FakePart => {
    const known = parts.get(id) ?? new FakePart('div')
    known.id = id
    parts.set(id, known)
    return known
  }
  const [requests, tabs]: [FakeBrowser['requests'], string[]] = [[], []]
  let address = `/${hash}`
  const document = {
    title: '', hidden: false, activeElement: null, getElementById: part,
    createElement: (tag: string) => new FakePart(tag), addEventListener: () => undefined,
  }
  const context = createContext({
    document,
    location: { hash },
    history: { replaceState: (_state: null, _unused: string, path: string) => (address = path) },
    navigator: {}, innerWidth: 1_280, innerHeight: 900, devicePixelRatio: 1,
    createImageBitmap: async ({ bytes }: { readonly bytes: Buffer }) => {
      if (bytes.readUInt32BE(0) !== 0x89504e47) throw new Error('not decoded here')
      return {
        width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20), close: () => undefined,
      }
    },
    // It asks again after ten seconds: no test waits for that.
    setTimeout: () => 0, clearTimeout: () => undefined, Date, JSON,
    open: () => ({
      opener: null, location: { replace: (path: string) => tabs.push(path) },
      close: () => undefined,
    }),
    fetch: async (path: string, { method, headers, body }: {
      method: string; headers: Record<string, string>; body?: string
    }) => {
      const noted: FakeBrowser['requests'][number] = { line: `${method} ${path}`, body }
      requests.push(noted)
      const origin = new URL(at.started.page?.url ?? '').origin
      const got = await askPage(at, method, path, {
        ...(body === undefined ? {} : { body }),
        headers: { ...headers, Origin: origin, 'Sec-Fetch-Site': 'same-origin' },
      })
      return {
        status: got.status, json: async () => (noted.answer = got.json()),
        blob: async () => ({ size: got.bytes.length, bytes: got.bytes }),
      }
    },
  })
  runInContext(readFileSync(script, 'utf8'), context)
  return { at: part, requests, tabs, address: () => address, title: () => document.title }
}
