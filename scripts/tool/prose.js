// What a linter of prose says of the pages and of the sentences of the program. `node
// scripts/tool/prose.js` prints its findings by rule, `node scripts/tool/prose.js WORD…` those of
// the places whose name holds a word, one a line. Its limits, and what is allowed and why, stand in
// scripts/tool/prose.json.
import { readFileSync, readdirSync } from 'node:fs'
import { relative } from 'node:path'
import remarkGfm from 'remark-gfm'
import remarkParse from 'remark-parse'
import remarkRetext from 'remark-retext'
import retextEnglish from 'retext-english'
import retextPassive from 'retext-passive'
import retextReadability from 'retext-readability'
import ts from 'typescript'
import { unified } from 'unified'
import { VFile } from 'vfile'
import { filesBelow } from './files.js'
import { root } from './run.js'

const settings = JSON.parse(readFileSync(`${root}/scripts/tool/prose.json`, 'utf8'))

const visit = (node, type, see) => {
  if (node.type === type) see(node)
  for (const child of node.children ?? []) visit(child, type, see)
}

const wordsIn = (node) => {
  let words = 0
  visit(node, 'WordNode', () => { words += 1 })
  return words
}

/** Finds sentences of more words than a reader takes in at once. */
function longSentences() {
  return (tree, file) => {
    visit(tree, 'SentenceNode', (sentence) => {
      const words = wordsIn(sentence)
      if (words <= settings.words) return
      file.message(`${words} words`, { place: sentence.position, source: 'long-sentence' })
    })
  }
}

/** Counts the sentences of a text, for the share that may be in the passive. */
function counted() {
  return (tree, file) => {
    file.data.sentences = 0
    visit(tree, 'SentenceNode', () => { file.data.sentences += 1 })
  }
}

const english = unified().use(retextEnglish)
  .use(retextPassive, { ignore: Object.keys(settings.states) })
  .use(retextReadability, { age: settings.age, threshold: settings.algorithms / 7 })
  .use(longSentences).use(counted)

const reader = unified().use(remarkParse).use(remarkGfm).use(remarkRetext, english)

/**
 * A command is one name to a reader, and one with a capital, or its sentence would be a part of the
 * one before. Blocks are what was typed and answered, and no prose.
 */
const withNames = (text) => text
  .replace(/^(?:<!--.*-->\n)?```[^]*?^```$/gm, (block) => block.replace(/[^\n]/g, ''))
  .replace(/`[^`]+`/g, (code) => `Name${code.replace(/[^\n]/g, '')}`)
  .replace(/(\. )(\[)([a-z])/g, (_, end, link, first) => end + link + first.toUpperCase())

const ruleOf = ({ source }) => source.replace('retext-', '')

const isAllowed = (place, rule, words) => settings.exceptions.some((one) =>
  place.startsWith(one.place) && one.rule === rule && words.includes(one.words))

/**
 * What the linter finds in a text in Markdown.
 * @param {string} place the name of the page or of the part of the program
 * @returns {Promise<{ sentences: number,
 *   findings: readonly { line: number, rule: string, words: string }[] }>}
 */
export const findingsOf = async (place, text) => {
  const file = new VFile(withNames(text))
  await reader.run(reader.parse(file), file)
  const lines = text.split('\n')
  const findings = file.messages.map((one) => {
    const words = `${one.reason}: ${lines[(one.line ?? 1) - 1]?.trim() ?? ''}`
    return { line: one.line ?? 1, rule: ruleOf(one), words }
  })
  return {
    sentences: file.data.sentences,
    findings: findings.filter(({ rule, words }) => !isAllowed(place, rule, words)),
  }
}

/** The words of an expression as people read them, with a name for what is filled in. */
const spokenOf = (node) => {
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isTemplateExpression(node)) {
    return node.head.text + node.templateSpans.map(({ literal }) => `Name${literal.text}`).join('')
  }
  if (ts.isParenthesizedExpression(node)) return spokenOf(node.expression)
  const sum = ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken
  if (!sum) return null
  return (spokenOf(node.left) ?? 'Name') + (spokenOf(node.right) ?? 'Name')
}

/** Sentences in the strings of a file: help, forms, refusals, what to do next. */
const spokenIn = (path) => {
  const file = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true)
  const found = []
  const look = (node) => {
    const text = spokenOf(node)
    if (text === null) return ts.forEachChild(node, look)
    if (text.split(/\s+/).length >= 5 && /[.?:]\s*$/.test(text)) found.push(text)
    return undefined
  }
  look(file)
  return found
}

const pagesIn = (folder) => readdirSync(`${root}/${folder}`)
  .filter((name) => name.endsWith('.md')).map((name) => `${folder}/${name}`)

/** Places that are read: pages for users, pages for builders, and folders of the program. */
export const places = () => ({
  users: ['README.md', 'CONTRIBUTING.md', 'SECURITY.md',
    ...pagesIn('docs').filter((path) => path !== 'docs/refusals.md'), ...pagesIn('docs/how-to')],
  builders: [...pagesIn('docs/dev'), ...pagesIn('docs/decisions')],
  program: readdirSync(`${root}/src`).map((name) => `src/${name}`),
})

/** The text of a place: a page as it is, or every sentence that a folder of the source says. */
export const textOf = (place) => place.endsWith('.md')
  ? readFileSync(`${root}/${place}`, 'utf8')
  : filesBelow(`${root}/${place}`).filter((path) => path.endsWith('.ts')).sort()
    .flatMap(spokenIn).join('\n\n')

const printed = async (words) => {
  for (const [group, all] of Object.entries(places())) {
    const sums = { sentences: 0, 'long-sentence': 0, passive: 0, readability: 0 }
    for (const place of all) {
      const { sentences, findings } = await findingsOf(place, textOf(place))
      sums.sentences += sentences
      for (const { line, rule, words: found } of findings) {
        sums[rule] += 1
        if (words.some((word) => place.includes(word))) {
          console.log(`${relative('.', place)}:${line} ${rule}: ${found}`)
        }
      }
    }
    console.log(`${group}: ${all.length} places, ${JSON.stringify(sums)}`)
  }
}

if (process.argv[1]?.endsWith('/prose.js')) await printed(process.argv.slice(2))
