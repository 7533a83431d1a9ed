// Places of a source: a declaration by its name, and an expression in it by its text without white
// space, so that code which moves or is broken into other lines is found again.
import ts from 'typescript'

const known = new Map()

/** Parses a source; no type is looked at. */
export const parsed = (name, text) => {
  const before = known.get(name)
  if (before?.text === text) return before
  const source = ts.createSourceFile(name, text, ts.ScriptTarget.ES2023, true, ts.ScriptKind.TS)
  known.set(name, source)
  return source
}

const nameOf = (node) => (node.name === undefined ? null : node.name.getText())

/** Named parts of a file: what is declared at its top, and members of its classes. */
function* declarations(source) {
  for (const statement of source.statements) {
    if (ts.isVariableStatement(statement)) {
      for (const one of statement.declarationList.declarations) {
        yield { name: nameOf(one), node: statement }
      }
      continue
    }
    if (ts.isClassDeclaration(statement)) {
      for (const member of statement.members) {
        const name = ts.isConstructorDeclaration(member) ? 'constructor' : nameOf(member)
        if (name !== null) yield { name: `${nameOf(statement)}.${name}`, node: member }
      }
    }
    if (statement.name !== undefined) yield { name: nameOf(statement), node: statement }
  }
}

/** The innermost named part that holds a range; null outside of all. */
export const namedPartAt = (source, from, to) => {
  const found = [...declarations(source)]
    .filter(({ node }) => node.getStart(source) <= from && to <= node.end)
  return found.sort((a, b) => a.node.end - a.node.pos - (b.node.end - b.node.pos))[0]?.name ?? null
}

/** Ranges of every part of this name. */
const rangesOf = (source, name) => [...declarations(source)]
  .filter((one) => one.name === name)
  .map(({ node }) => [node.getStart(source), node.end])

const withoutSpace = (text, from, to) => {
  const at = []
  let kept = ''
  for (let i = from; i < to; i += 1) {
    if (/\s/.test(text[i])) continue
    kept += text[i]
    at.push(i)
  }
  return { kept, at }
}

/**
 * Where a text stands in a range, white space left aside.
 * @returns {readonly (readonly [number, number])[]} ranges, the end excluded
 */
export const occurrences = (text, wanted, [from, to] = [0, text.length]) => {
  const bare = wanted.replace(/\s/g, '')
  if (bare === '') return []
  const { kept, at } = withoutSpace(text, from, to)
  const found = []
  for (let i = kept.indexOf(bare); i >= 0; i = kept.indexOf(bare, i + 1)) {
    found.push([at[i], at[i + bare.length - 1] + 1])
  }
  return found
}

/**
 * Where a text stands in the part of this name, or in the whole file where there is none.
 * @param {{ in?: string, old: string }} wanted
 */
export const placesOf = (name, text, wanted) => {
  if (wanted.in === undefined) return occurrences(text, wanted.old)
  return rangesOf(parsed(name, text), wanted.in)
    .flatMap((range) => occurrences(text, wanted.old, range))
}
