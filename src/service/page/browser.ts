/**
 * What the page's program uses of a browser, and no more. The types of a whole browser would hold
 * for the whole project, where they change what a key or a name is.
 */

/** A part of a document. */
export interface Part {
  id: string
  className: string
  textContent: string | null
  hidden: boolean
  readonly innerHTML: string
  readonly childElementCount: number
  readonly classList: { add(name: string): void, remove(name: string): void } & {
    toggle(name: string, on: boolean): void
  }
  readonly dataset: Record<string, string | undefined>
  readonly style: { width: string, height: string }
  append(...children: readonly Part[]): void
  prepend(child: Part): void
  replaceChildren(...children: readonly Part[]): void
  contains(other: Part | null): boolean
  querySelectorAll(selector: string): Iterable<Part>
  getAttribute(name: string): string | null
  setAttribute(name: string, value: string): void
  addEventListener(
    kind: string, heard: (event: KeyPress) => void, options?: { readonly once: boolean },
  ): void
  focus(): void
}

/** A button or a field. */
export interface Control extends Part {
  type: string
  value: string
  disabled: boolean
  checked: boolean
}

/** Bytes with their type. */
export interface Bytes { readonly size: number }

/** A picture that was decoded. */
export interface Bitmap {
  readonly width: number
  readonly height: number
  close(): void
}

/** What a picture is drawn to. */
export interface Canvas extends Part {
  width: number
  height: number
  readonly clientWidth: number
  getContext(kind: '2d'): {
    imageSmoothingQuality: string
    drawImage(picture: Bitmap, x: number, y: number, width: number, height: number): void
  } | null
}

/** A part that is unfolded or not. */
export interface Fold extends Part { open: boolean }

/** A key that was pressed. */
export interface KeyPress {
  readonly key: string
  readonly altKey: boolean
  readonly ctrlKey: boolean
  readonly metaKey: boolean
  preventDefault(): void
}

/** A dialog. */
export interface Dialog extends Part {
  returnValue: string
  showModal(): void
  close(): void
}

/** A form. */
export interface Form extends Part { reset(): void }

/** Another tab. */
export interface Tab {
  opener: unknown
  readonly location: { replace(path: string): void }
  close(): void
}

/** The browser. */
export interface Browser {
  readonly document: {
    title: string
    readonly hidden: boolean
    readonly activeElement: Part | null
    getElementById(id: string): Part | null
    createElement(tag: string): Part
    addEventListener(kind: string, heard: () => void): void
  }
  readonly location: { readonly hash: string }
  readonly history: { replaceState(state: null, unused: string, path: string): void }
  readonly navigator: { readonly clipboard?: { writeText(text: string): Promise<void> } }
  readonly fetch: (path: string, how: {
    readonly method: string
    readonly cache: 'no-store'
    readonly credentials: 'omit'
    readonly redirect: 'error'
    readonly mode: 'same-origin'
    readonly headers: Readonly<Record<string, string>>
    readonly body?: string
  }) => Promise<{
    readonly status: number
    json(): Promise<unknown>
    blob(): Promise<Bytes>
  }>
  readonly createImageBitmap: (bytes: Bytes) => Promise<Bitmap>
  readonly innerWidth: number
  readonly innerHeight: number
  readonly devicePixelRatio: number
  open(path: string, target: string): Tab | null
}
