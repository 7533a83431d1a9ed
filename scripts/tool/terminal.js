// A picture of a terminal, drawn from what the tutorial shows, which a test compares with what the
// program answers: so the picture is true, too. SVG, because text stays text in it.
import { readFileSync } from 'node:fs'
import { root } from './run.js'

const columns = 100
const [charWidth, lineHeight, margin] = [8.4, 19, 16]

/** Commands of the tutorial whose exchange is in the picture, by how they begin. */
const shown = [
  "printf 'What is", 'sallyport task list', 'sallyport shots scan', 'sallyport shots analyze',
]

const exchange = /^```sh\n([^]*?)^```\n```text\n([^]*?)^```$/gm

const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const escaped = (text) => text.replace(/[&<>]/g, (char) => entities[char])

/** A line of any length as lines of at most so many columns. */
const short = new RegExp(`.{1,${columns}}(?: |$)|.{${columns}}`, 'g')
const wrapped = (line) => line.match(short) ?? ['']

const linesOf = (page) => {
  const found = [...page.matchAll(exchange)]
  return shown.flatMap((begin) => {
    const one = found.find(([, typed]) => typed.startsWith(begin))
    if (one === undefined) throw new Error(`the tutorial does not type: ${begin}`)
    const typed = one[1].trimEnd().split('\n').map((line) => [`$ ${line}`, 'typed'])
    const told = one[2].trimEnd().split('\n').flatMap(wrapped).map((line) => [line, 'told'])
    return [...typed, ...told, ['', 'told']]
  }).slice(0, -1)
}

/** The picture, as the text of a file. */
export const terminalPicture = () => {
  const lines = linesOf(readFileSync(`${root}/docs/tutorial.md`, 'utf8'))
  const width = Math.ceil(columns * charWidth + 2 * margin)
  const height = Math.ceil(lines.length * lineHeight + 2 * margin)
  const rows = lines.map(([text, kind], at) =>
    `<text x="${margin}" y="${margin + (at + 0.75) * lineHeight}" class="${kind}" `
    + `xml:space="preserve">${escaped(text.replaceAll('\t', '  '))}</text>`)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" `
      + `width="${width}" height="${height}" role="img" `
      + 'aria-label="Commands of the tutorial in a terminal, and what they answer">',
    '<style>text{font:14px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace}'
      + '.typed{fill:#fff;font-weight:bold}.told{fill:#c3cfdd}</style>',
    `<rect width="${width}" height="${height}" rx="8" fill="#16202c"/>`,
    ...rows, '</svg>', '',
  ].join('\n')
}
