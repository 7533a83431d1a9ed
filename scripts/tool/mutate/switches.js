// Puts many changes into one source at once, each behind a switch, so that one build serves all of
// them: what holds a change is there twice, and which of the two runs is asked as it runs.
import ts from 'typescript'
import { parsed } from './places.js'

const ask = '$broken'

/**
 * Weaves changes into a source.
 * @param {string} name of the file, for the parser
 * @param {string} text
 * @param {readonly { id: number, from: number, to: number, text: string, whole?: boolean,
 *   told?: boolean }[]} changes what stands from `from` to `to` becomes `text`; with `whole` it is
 *   a statement or an expression by itself, so that the switch can stand right there; with `told`
 *   the switch is told where the statement throws, or the condition is false
 * @param {string} module where the switch is imported from
 * @returns {{ text: string, outside: readonly number[] }} `outside` are ids that no switch can
 *   reach: their part runs once, when the file is loaded, or is no code
 */
export const weave = (name, text, changes, module) => {
  const source = parsed(name, text)
  const hosts = new Map()
  const outside = []
  for (const given of changes) {
    const change = given.whole === true ? given : narrowed(text, given)
    const host = hostOf(source, change)
    if (host === null) {
      outside.push(change.id)
      continue
    }
    const key = `${host.from}-${host.to}-${host.kind}`
    const known = hosts.get(key) ?? { ...host, changes: [] }
    known.changes.push(change)
    hosts.set(key, known)
  }
  if (hosts.size === 0) return { text, outside }
  const woven = emit(text, [0, text.length], [...hosts.values()])
  return { text: `import { ${ask} } from '${module}'\n${woven}`, outside }
}

/** A change as small as it can be: where the two texts differ. */
const narrowed = (text, change) => {
  const [before, after] = [text.slice(change.from, change.to), change.text]
  const most = Math.min(before.length, after.length)
  let start = 0
  while (start < most && before[start] === after[start]) start += 1
  let end = 0
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end += 1
  return {
    ...change, from: change.from + start, to: change.to - end,
    text: after.slice(start, after.length - end),
  }
}

/** What is doubled for a change: the nearest body of a function, or expression that may be. */
const hostOf = (source, { from, to, whole }) => {
  let found = null
  const visit = (node) => {
    if (node.getStart(source) > from || node.end < to) return
    const host = asHost(source, node, from, to, whole === true)
    if (host !== null) found = host
    ts.forEachChild(node, visit)
  }
  ts.forEachChild(source, visit)
  return found
}

const rangeOf = (source, node, kind) => ({ from: node.getStart(source), to: node.end, kind })

const asHost = (source, node, from, to, whole) => {
  const { parent } = node
  if (whole && node.getStart(source) === from && node.end === to) {
    if (ts.isExpressionStatement(node)) return rangeOf(source, node, 'statement')
    if (ts.isPropertyAssignment(parent) && parent.initializer === node) {
      return rangeOf(source, node, 'expression')
    }
  }
  if (ts.isBlock(node) && ts.isFunctionLike(parent)) {
    // One of a class above another has to begin with its call of that one.
    const isHeir = ts.isConstructorDeclaration(parent) && parent.parent.heritageClauses?.some(
      ({ token }) => token === ts.SyntaxKind.ExtendsKeyword)
    return isHeir === true ? null : rangeOf(source, node, 'body')
  }
  const isOwn = (ts.isVariableDeclaration(parent) || ts.isPropertyDeclaration(parent))
    && parent.initializer === node
  const isConcise = ts.isArrowFunction(parent) && parent.body === node
  return isOwn || isConcise ? rangeOf(source, node, 'expression') : null
}

const holds = (host, [from, to]) => from <= host.from && host.to <= to

/** The text of a range with the hosts in it doubled. */
const emit = (text, range, hosts) => {
  const inside = hosts.filter((one) => holds(one, range))
  const outer = inside
    .filter((one) => !inside.some((other) => other !== one && contains(other, one)))
    .sort((a, b) => a.from - b.from)
  let out = ''
  let at = range[0]
  for (const host of outer) {
    out += text.slice(at, host.from) + doubled(text, host, hosts.filter((one) => one !== host))
    at = host.to
  }
  return out + text.slice(at, range[1])
}

const contains = (a, b) => a.from <= b.from && b.to <= a.to
  && (a.to - a.from > b.to - b.from || order(a) < order(b))

/** Of two that are one range, the body is around the expression, and that around the statement. */
const order = ({ kind }) => ['body', 'expression', 'statement'].indexOf(kind)

const changed = (text, { from, to }, change) =>
  text.slice(from, change.from) + change.text + text.slice(change.to, to)

/** What stood there, so that the switch is told where it refuses. */
const told = (kind, changes, text) => {
  const one = changes.find((change) => change.told === true)
  if (one === undefined || kind === 'body') return text
  return kind === 'expression' ? `${ask}.judged(${one.id}, (\n${text}\n))`
    : `try {\n${text}\n} catch (refusal) {\n${ask}.refused(${one.id})\nthrow refusal\n}`
}

const doubled = (text, host, hosts) => {
  const { from, to, kind, changes } = host
  const same = told(kind, changes, emit(text, [from, to], hosts))
  if (kind === 'statement') {
    // A bracket at the start of a line goes on with the line before: a block does not.
    return changes.reduceRight((rest, one) =>
      `if (${ask}(${one.id})) {\n${changed(text, host, one)}\n} else {\n${rest}\n}`, same)
  }
  if (kind === 'expression') {
    return changes.reduceRight((rest, one) =>
      `(${ask}(${one.id}) ? (\n${changed(text, host, one)}\n) : (\n${rest}\n))`, same)
  }
  return changes.reduceRight((rest, one) =>
    `{ if (${ask}(${one.id})) ${changed(text, host, one)} else ${rest} }`, same)
}
