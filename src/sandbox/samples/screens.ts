/** Made-up screens: an editor, an inbox and a board. Nobody's screen is in them. */
import { fill, newCanvas, write, type Canvas, type Colour } from './canvas.js'

const dark: readonly Colour[] = [
  [30, 34, 42], [38, 43, 53], [205, 211, 222], [120, 132, 150], [126, 184, 218], [222, 165, 132],
  [152, 195, 121], [198, 140, 214], [52, 60, 74],
]

const code = [
  'IMPORT { READLEDGER } FROM "./LEDGER"',
  'IMPORT { TOTAL } FROM "./MONEY"',
  '',
  '/* SUMS WHAT WAS SPENT IN ONE WEEK */',
  'EXPORT CONST WEEKOF = (ROWS, START) => {',
  '  CONST END = START + 7 * DAY',
  '  CONST INSIDE = ROWS.FILTER((ROW) => ROW.AT >= START)',
  '  RETURN TOTAL(INSIDE)',
  '}',
  '',
  'EXPORT CONST REPORT = (ROWS) => {',
  '  CONST WEEKS = GROUP(ROWS, WEEKOF)',
  '  FOR (CONST WEEK OF WEEKS) {',
  '    PRINT(WEEK.START, WEEK.TOTAL)',
  '  }',
  '  RETURN WEEKS.LENGTH',
  '}',
  '',
  'TEST("A WEEK ENDS BEFORE THE NEXT ONE BEGINS", () => {',
  '  EQUAL(WEEKOF(ROWS, MONDAY), 1250)',
  '})',
]

const files = ['LEDGER.TS', 'MONEY.TS', 'REPORT.TS', 'WEEKS.TS', 'README.MD', 'PACKAGE.JSON']

const colourOf = (line: string): number => {
  if (line.startsWith('/*')) return 3
  if (line.startsWith('IMPORT')) return 7
  if (line.startsWith('EXPORT')) return 4
  return line.startsWith('TEST') ? 6 : 2
}

/** Changes of a line: number from 0 and its new text. */
type Edits = Readonly<Record<number, string>>

/** An editor with a file in it, 1920x1080. */
export const editorScreen = (edits: Edits = {}): Canvas => {
  const canvas = newCanvas(1920, 1080, dark)
  fill(canvas, 0, 0, 1920, 48, 1)
  write(canvas, 'REPORT.TS - LEDGER TOOLS', 780, 17, 2, 3)
  fill(canvas, 0, 48, 300, 1000, 1)
  files.forEach((name, at) => {
    if (at === 2) fill(canvas, 0, 84 + at * 38, 300, 32, 8)
    write(canvas, name, 32, 92 + at * 38, 2, at === 2 ? 2 : 3)
  })
  code.forEach((was, at) => {
    const line = edits[at] ?? was
    write(canvas, String(at + 1).padStart(3), 330, 92 + at * 40, 2, 3)
    write(canvas, line, 420, 92 + at * 40, 3, colourOf(line))
  })
  fill(canvas, 0, 1048, 1920, 32, 8)
  write(canvas, 'MAIN  NO PROBLEMS  UTF-8', 32, 1057, 2, 2)
  return canvas
}

const light: readonly Colour[] = [
  [250, 250, 248], [233, 236, 240], [32, 38, 48], [112, 121, 134], [47, 93, 140], [214, 226, 239],
  [44, 138, 99], [192, 138, 30], [194, 69, 61],
]

const letters = [
  ['MARA OKAFOR', 'HAND-OVER ON MONDAY', '09:41'],
  ['BUILD', 'NIGHTLY RUN: 2 TESTS FAILED', '08:02'],
  ['JON WILK', 'RE: NAMES OF THE COLUMNS', 'FRI'], ['LIBRARY', 'A BOOK IS READY FOR YOU', 'FRI'],
  ['TEAM', 'MINUTES OF THE WEEKLY TALK', 'THU'], ['MARA OKAFOR', 'DRAFT OF THE PLAN', 'THU'],
  ['OFFICE', 'THE LIFT IS REPAIRED', 'WED'], ['JON WILK', 'QUESTION ABOUT THE REPORT', 'TUE'],
] as const

/** An inbox, 1920x1080. */
export const inboxScreen = (): Canvas => {
  const canvas = newCanvas(1920, 1080, light)
  fill(canvas, 0, 0, 1920, 64, 4)
  write(canvas, 'MAIL', 40, 20, 4, 0)
  fill(canvas, 0, 64, 320, 1016, 1)
  const boxes = ['INBOX 8', 'STARRED', 'SENT', 'DRAFTS 1', 'ARCHIVE']
  boxes.forEach((name, at) => { write(canvas, name, 40, 110 + at * 52, 3, at === 0 ? 4 : 3) })
  letters.forEach(([from, subject, time], at) => {
    const y = 84 + at * 96
    if (at < 2) fill(canvas, 340, y, 1560, 88, 5)
    write(canvas, from, 370, y + 18, 3, 2)
    write(canvas, subject, 370, y + 52, 3, 3)
    write(canvas, time, 1740, y + 18, 3, 3)
  })
  return canvas
}

const cards = [
  ['ORDERS', '1284', 6], ['RETURNS', '37', 7], ['OPEN', '112', 4], ['LATE', '9', 8],
] as const

/** A board with figures and bars, 2560x1440. */
export const boardScreen = (): Canvas => {
  const canvas = newCanvas(2560, 1440, light)
  fill(canvas, 0, 0, 2560, 80, 1)
  write(canvas, 'SHOP BOARD', 48, 24, 5, 2)
  cards.forEach(([name, figure, colour], at) => {
    const x = 48 + at * 620
    fill(canvas, x, 120, 580, 220, 1)
    fill(canvas, x, 120, 12, 220, colour)
    write(canvas, name, x + 48, 156, 4, 3)
    write(canvas, figure, x + 48, 224, 10, 2)
  })
  write(canvas, 'ORDERS BY WEEK', 48, 400, 4, 2)
  for (let week = 0; week < 24; week += 1) {
    const height = 180 + ((week * 7) % 11) * 48 + week * 8
    fill(canvas, 60 + week * 102, 1340 - height, 72, height, week === 23 ? 6 : 4)
    write(canvas, String(week + 1), 80 + week * 102, 1360, 3, 3)
  }
  return canvas
}
