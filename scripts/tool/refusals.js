// The refusals of the program as its source has them: every code that an error can carry, with its
// kind and the sentence that goes with it. docs/refusals.md is made of it.
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import ts from 'typescript'
import { filesBelow } from './files.js'
import { root } from './run.js'

const kinds = {
  failed: 'failed', usage: 'usage', rejected: 'rejected', unauthorized: 'unauthorized',
  conflict: 'conflict', notFound: 'not_found', blocked: 'blocked', budget: 'budget',
  remote: 'remote', noState: 'no_state', locked: 'locked', damaged: 'damaged',
  partial: 'partial', cancelled: 'cancelled',
}

/** Unions of codes that a module of its own puts into errors of one kind. */
const unions = {
  StrictJsonCode: () => 'rejected',
  ContactCode: (code) => kindsIn(`${root}/src/net/contact-error.ts`)[code] ?? 'remote',
}

const isCode = (text) => /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(text)

/** Texts that an expression can be; null for what is only known when the program runs. */
const textsOf = (node) => {
  if (node === undefined) return null
  if (ts.isStringLiteralLike(node)) return [node.text]
  if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node)) return textsOf(node.expression)
  if (!ts.isConditionalExpression(node)) return null
  const both = [textsOf(node.whenTrue), textsOf(node.whenFalse)]
  return both.includes(null) ? null : both.flat()
}

/** The sentence of an error as people read it, with … for what is filled in. */
const sentenceOf = (node) => {
  if (node === undefined) return ''
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isTemplateExpression(node)) {
    return node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join('')
  }
  const sum = ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken
  return sum ? sentenceOf(node.left) + sentenceOf(node.right) : ''
}

/** A function around a node that has a name, and which of its parameters an expression is. */
const parameterOf = (node, name) => {
  for (let at = node.parent; at !== undefined; at = at.parent) {
    if (!ts.isArrowFunction(at) && !ts.isFunctionDeclaration(at)) continue
    const index = at.parameters.findIndex((one) => one.name.getText() === name)
    const named = at.name?.text ?? (ts.isVariableDeclaration(at.parent) && at.parent.name.getText())
    if (index >= 0 && named) return { named, index }
  }
  return null
}

const walk = (node, visit) => {
  visit(node)
  ts.forEachChild(node, (child) => walk(child, visit))
}

const calleeOf = (node) =>
  (ts.isCallExpression(node) || ts.isNewExpression(node)) && ts.isIdentifier(node.expression)
    ? node.expression.text : null

const memberText = (node, name) => {
  const found = node.properties.find((one) =>
    ts.isPropertyAssignment(one) && one.name.getText() === name)
  return found === undefined ? null : textsOf(found.initializer)
}

/**
 * Reads the source.
 * @returns {readonly { code: string, kind: string, sentence: string, files: readonly string[] }[]}
 */
export const refusals = () => {
  const found = new Map()
  const add = (file, kind, codes, sentence = '') => {
    for (const code of codes.filter(isCode)) {
      const key = `${code} ${kind}`
      const one = found.get(key) ?? { code, kind, sentence: '', files: new Set() }
      one.sentence ||= sentence
      one.files.add(file)
      found.set(key, one)
    }
  }
  for (const path of filesBelow(`${root}/src`).filter((one) => one.endsWith('.ts')).sort()) {
    const text = readFileSync(path, 'utf8')
    const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
    readFile(file, (...given) => add(relative(root, path), ...given))
  }
  const order = (a, b) => (`${a.code} ${a.kind}` < `${b.code} ${b.kind}` ? -1 : 1)
  return [...found.values()].map((one) => ({ ...one, files: [...one.files] })).sort(order)
}

/** The table `kinds` of a module: the kind of each code, or of each end. */
const kindsIn = (path) => {
  const found = {}
  const text = readFileSync(path, 'utf8')
  walk(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true), (node) => {
    if (!ts.isVariableDeclaration(node) || node.name.getText() !== 'kinds') return
    for (const one of node.initializer.properties) {
      found[one.name.getText()] = textsOf(one.initializer)[0]
    }
  })
  return found
}

/** Kinds of what becomes of a paid request, by its end; the one table of the program. */
const paidKinds = () => kindsIn(`${root}/src/contact/ending.ts`)

/** Codes that a capability gives the ends of its paid requests: `codes: { held: 'x' }`. */
const addPaid = (node, add) => {
  const of = (name) => node.properties.find((one) =>
    ts.isPropertyAssignment(one) && one.name.getText() === name)?.initializer
  const codes = of('codes')
  if (of('biller') === undefined || codes === undefined) return
  const ends = paidKinds()
  for (const one of codes.properties) add(ends[one.name.getText()], textsOf(one.initializer))
}

const readFile = (file, add) => {
  const wrappers = []
  walk(file, (node) => {
    if (ts.isTypeAliasDeclaration(node) && Object.hasOwn(unions, node.name.text)) {
      walk(node.type, (one) => {
        if (ts.isLiteralTypeNode(one) && ts.isStringLiteral(one.literal)) {
          add(unions[node.name.text](one.literal.text), [one.literal.text])
        }
      })
    }
    if (ts.isObjectLiteralExpression(node)) {
      const [kind, code, what] = ['kind', 'code', 'what'].map((name) => memberText(node, name))
      if (code !== null && kind !== null && Object.values(kinds).includes(kind[0])) {
        add(kind[0], code)
      } else if (code !== null && what !== null) add('rejected', code)
      addPaid(node, add)
    }
    if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return
    const { expression, name } = node.expression
    if (expression.getText() !== 'fail' || !Object.hasOwn(kinds, name.text)) return
    const [code, sentence] = node.arguments
    const codes = textsOf(code)
    if (codes !== null) return add(kinds[name.text], codes, sentenceOf(sentence))
    const parameter = parameterOf(node, code?.getText() ?? '')
    if (parameter !== null) wrappers.push({ ...parameter, kind: kinds[name.text] })
  })
  walk(file, (node) => {
    for (const { named, index, kind } of wrappers) {
      if (calleeOf(node) !== named) continue
      const codes = textsOf(node.arguments[index])
      if (codes !== null) add(kind, codes, sentenceOf(node.arguments[index + 1]))
    }
  })
}

const statuses = {
  failed: 1, usage: 2, rejected: 3, unauthorized: 4, conflict: 5, not_found: 6, blocked: 7,
  budget: 8, remote: 9, no_state: 10, locked: 11, damaged: 12, partial: 13, cancelled: 130,
}

/** The page of all refusals. */
export const refusalsPage = () => [
  '# Refusals',
  '',
  'Every `code` that an error can carry, with the exit status of its kind; made from the source by',
  '`npm run generate`. What goes with them is in [scripting.md](scripting.md). `…` is filled in.',
  'Of several sentences of a code one is here; without one it depends on the place. What is',
  'refused after somebody was asked exits 7 where its own status would say that nothing was sent',
  '(2, 3, 5, 6, 8, 10 or 11): `job_changed` is 5 before a first request, and 7 behind it.',
  '',
  'What becomes of a paid request is told under the name of its work (`proof`, `conclusion`,',
  '`analysis`, `digest`, `job`) where the table below has no code of its own for it:',
  '`proof_charge_unknown` is 7.',
  '',
  '| code | kind | exit |',
  '|---|---|---|',
  ...Object.entries({ ...paidKinds(), cancelled: 'cancelled' }).map(([end, kind]) =>
    `| \`WORK_${end}\` | ${kind} | ${statuses[kind]} |`),
  '',
  '| code | kind | exit | sentence |',
  '|---|---|---|---|',
  ...refusals().map(({ code, kind, sentence }) =>
    `| \`${code}\` | ${kind} | ${statuses[kind]} | ${sentence.replaceAll('|', '\\|')} |`),
  '',
].join('\n')
