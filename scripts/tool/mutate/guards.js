// The guards that stand in one line: a statement that does nothing but ask whether something holds
// or make something durable, and each condition of a judge's list.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import ts from 'typescript'
import { filesBelow } from '../files.js'
import { namedPartAt, parsed } from './places.js'

/** What only asks, by how its name begins, and what only makes durable, by its whole name. */
const asks = /^#?(?:require|assert|verify|check|refuse|demand)(?:[A-Z]\w*)?$/
const keeps = /^#?(?:mark|f(?:data)?sync(?:Sync)?|sync(?:[A-Z]\w*)?)$/

const calledName = (expression) => {
  const call = ts.isAwaitExpression(expression) ? expression.expression : expression
  if (!ts.isCallExpression(call)) return null
  const { expression: callee } = call
  if (ts.isIdentifier(callee)) return callee.text
  return ts.isPropertyAccessExpression(callee) ? callee.name.text : null
}

const kindOf = (node) => {
  if (ts.isExpressionStatement(node)) {
    const name = calledName(node.expression)
    if (name === null) return null
    if (asks.test(name)) return 'asks'
    return keeps.test(name) ? 'keeps' : null
  }
  return null
}

/** The condition of a fact of a judge: what its `holds` gives. */
const conditionOf = (node) => {
  if (!ts.isPropertyAssignment(node) || node.name.getText() !== 'holds') return null
  const { initializer } = node
  return ts.isArrowFunction(initializer) ? initializer.body : initializer
}

const guardsOf = (file, text) => {
  const source = parsed(file, text)
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16)
  const found = []
  const add = (node, kind, replaced) => {
    const from = node.getStart(source)
    const part = namedPartAt(source, from, node.end)
    const guard = text.slice(from, node.end)
    const line = source.getLineAndCharacterOfPosition(from).line + 1
    found.push({ file, hash, in: part, kind, guard, line, from, to: node.end, text: replaced })
  }
  const visit = (node) => {
    const kind = kindOf(node)
    if (kind !== null) add(node, kind, '')
    const condition = conditionOf(node)
    if (condition !== null) {
      if (ts.isBlock(condition)) add(condition, 'fact', '{ return true }')
      else add(condition, 'fact', ts.isArrowFunction(condition.parent) ? 'true' : '() => true')
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

/** The text by which a guard is named: without the breaks of its lines. */
const shown = (guard) => guard.replace(/\s+/g, ' ')

/**
 * Every guard of the sources below a project's `src`, in order of path and place. The sandbox is
 * no part of what guards.
 * @returns {readonly { key: string, file: string, hash: string, in: string | null, kind: string,
 *   guard: string, line: number, from: number, to: number, text: string }[]} `key` names it by
 *   file, function and text, and by a number where the same stands there again; `hash` is of the
 *   file; `text` is what the guard becomes
 */
export const findGuards = (root) => {
  const counts = new Map()
  return filesBelow(join(root, 'src')).filter((path) => path.endsWith('.ts'))
    .filter((path) => !path.includes('/src/sandbox/')).sort()
    .flatMap((path) => guardsOf(relative(root, path), readFileSync(path, 'utf8')))
    .map((one) => {
      const base = `${one.file} ${one.in}: ${shown(one.guard)}`
      const before = counts.get(base) ?? 0
      counts.set(base, before + 1)
      return { ...one, key: before === 0 ? base : `${base} (${before + 1})` }
    })
}
