// The commands that the source names as next steps: every `sallyport …` between backticks in a
// text of src, with constants filled in and a word in capitals where a value is known at run time.
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import ts from 'typescript'
import { filesBelow } from './files.js'
import { root } from './run.js'

/** Texts that describe the commands, and do not answer a refusal. */
const described = ['src/cli/help/', 'src/cli/man/', 'src/cli/completion/']

const unknown = 'VALUE'

/** Stands for what the place that calls fills in: a hint with it is no whole one. */
const open = '\0'

/** What names of parameters stand for, in any file. */
const known = { slot: 'screenshot', purpose: 'gateway.vision' }

/** A name in the same file whose text is known: a constant, or a function of one expression. */
const declaredIn = (file) => {
  const found = new Map()
  const walk = (node) => {
    if (ts.isVariableDeclaration(node) && node.initializer !== undefined) {
      found.set(node.name.getText(), node.initializer)
    }
    ts.forEachChild(node, walk)
  }
  walk(file)
  return found
}

const isIds = /(?:\.|^)(?:[a-z_]+_id|[a-zA-Z]+Id|id|revision)$/

/** The text of an expression, as far as the source tells it. */
const textOf = (node, names, depth = 0) => {
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isParenthesizedExpression(node)) return textOf(node.expression, names, depth)
  if (ts.isTemplateExpression(node)) {
    return node.head.text + node.templateSpans.map(({ expression, literal }) =>
      textOf(expression, names, depth) + literal.text).join('')
  }
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    return textOf(node.left, names, depth) + textOf(node.right, names, depth)
  }
  if (ts.isBinaryExpression(node) && node.operatorToken.getText() === '??') {
    return textOf(node.right, names, depth)
  }
  const declared = depth < 4 && ts.isIdentifier(node) ? names.get(node.text) : undefined
  if (declared !== undefined) return textOf(declared, names, depth + 1)
  if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && depth < 4) {
    const made = names.get(node.expression.text)
    if (made !== undefined && ts.isArrowFunction(made) && !ts.isBlock(made.body)) {
      const given = new Map(names)
      made.parameters.forEach((one, at) => {
        if (node.arguments[at] !== undefined) given.set(one.name.getText(), node.arguments[at])
      })
      return textOf(made.body, given, depth + 1)
    }
  }
  if (ts.isConditionalExpression(node)) return textOf(node.whenTrue, names, depth)
  if (isIds.test(node.getText())) return 'ID'
  return ts.isIdentifier(node) ? known[node.text] ?? open : unknown
}

const isWhole = (node) =>
  ts.isStringLiteralLike(node) || ts.isTemplateExpression(node) ||
  (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) ||
  (ts.isCallExpression(node) && ts.isIdentifier(node.expression))

/**
 * Reads the source.
 * @returns {readonly { file: string, line: number, hint: string }[]} every hint with a command
 */
export const hints = () => filesBelow(`${root}/src`)
  .filter((path) => path.endsWith('.ts'))
  .filter((path) => !described.some((folder) => relative(root, path).startsWith(folder)))
  .sort()
  .flatMap((path) => {
    const file = ts.createSourceFile(
      path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true)
    const names = declaredIn(file)
    const found = []
    const walk = (node) => {
      const hint = isWhole(node) ? textOf(node, names) : ''
      if (!/`sallyport [^`]+`/.test(hint)) return ts.forEachChild(node, walk)
      if (hint.includes(open)) return ts.forEachChild(node, walk)
      const { line } = file.getLineAndCharacterOfPosition(node.getStart())
      found.push({ file: relative(root, path), line: line + 1, hint })
    }
    walk(file)
    return found
  })

/** Whose commands are no command of a state that somebody is told: with the reason. */
const otherwise = {
  'src/cli/commands/demo/': 'plays on a state of its own, and names it',
  'src/cli/commands/sandbox/start.ts': 'is a script that names its own state first',
  'src/fabric/timers/crontab.ts': 'marks a block of a crontab',
  'src/sandbox/faults/': 'stands for what others write',
  'src/service/page/markup.ts': 'is shown before anybody is known',
  'src/service/page/page-script.ts': 'is replaced by what the service tells when it is opened',
}

/** Help, which is the same over any state. */
const describing = new Set(['examples', 'description', 'summary', 'text'])

const isHelp = (node) => {
  for (let at = node; at.parent !== undefined; at = at.parent) {
    if (ts.isPropertyAssignment(at)) return describing.has(at.name.getText())
    if (ts.isArrowFunction(at)) return false
  }
  return false
}

/**
 * Commands that no face would render: neither between backticks, where a face finds them, nor a
 * text of their own, which the shape of its field marks. In the terminal's own files
 * `view.command` is the way.
 * @returns {readonly { file: string, line: number, text: string }[]} what is to be written anew
 */
export const unrendered = () => filesBelow(`${root}/src`)
  .filter((path) => path.endsWith('.ts'))
  .filter((path) => ![...described, ...Object.keys(otherwise)].some((folder) =>
    relative(root, path).startsWith(folder)))
  .sort()
  .flatMap((path) => {
    const file = ts.createSourceFile(
      path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true)
    const found = []
    const isOfTerminal = relative(root, path).startsWith('src/cli/')
    const walk = (node) => {
      if (!isWhole(node) || ts.isCallExpression(node)) return ts.forEachChild(node, walk)
      const text = textOf(node, new Map()).replace(/`[^`]*`/g, '')
      const isOwn = !isOfTerminal && /^sallyport [a-z]/.test(text)
      if (!/(?<!\/)sallyport [a-z-]/.test(text) || isOwn || isHelp(node)) {
        // The parts of a sum are no texts of their own.
        return ts.isBinaryExpression(node) ? undefined : ts.forEachChild(node, walk)
      }
      const { line } = file.getLineAndCharacterOfPosition(node.getStart())
      found.push({ file: relative(root, path), line: line + 1, text })
    }
    walk(file)
    return found
  })
