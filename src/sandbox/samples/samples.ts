/**
 * Sample screenshots for trying the screenshot source out, made here: real sizes, few bytes. Among
 * them are a repeat that only differs in bytes, one changed line of text and one plain copy, so
 * that a scan shows what each becomes.
 */
import { jpegOf, pngOf } from './canvas.js'
import { boardScreen, editorScreen, inboxScreen } from './screens.js'

/** One file. */
export interface Sample {
  readonly name: string
  readonly bytes: Buffer
  /** How long before they are written it was taken, minutes. */
  readonly minutesAgo: number
  /** What a scan makes of it. */
  readonly becomes: 'observation' | 'suppressed repeat' | 'duplicate'
}

/** The files, oldest first. */
export const sampleScreens = (): readonly Sample[] => {
  const editor = pngOf(editorScreen(), 9)
  const board = pngOf(boardScreen(), 9)
  const changed = editorScreen({ 7: '  RETURN TOTAL(INSIDE.MAP((ROW) => ROW.AMOUNT))' })
  return [
    { name: 'editor.png', bytes: editor, minutesAgo: 50, becomes: 'observation' },
    {
      name: 'editor-again.png', bytes: pngOf(editorScreen(), 6), minutesAgo: 44,
      becomes: 'suppressed repeat',
    },
    {
      name: 'editor-one-line.png', bytes: pngOf(changed, 9), minutesAgo: 38, becomes: 'observation',
    },
    { name: 'inbox.jpg', bytes: jpegOf(inboxScreen(), 85), minutesAgo: 22, becomes: 'observation' },
    { name: 'board.png', bytes: board, minutesAgo: 9, becomes: 'observation' },
    { name: 'board-copy.png', bytes: board, minutesAgo: 5, becomes: 'duplicate' },
  ]
}
