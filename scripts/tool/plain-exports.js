// What a chunk gives to others, as plain properties of one object. A bundler makes a getter of
// each, twice, and copies them once more where a chunk is imported while the program runs: with a
// hundred chunks a command spends a good part of its start on that.

const statement = /^export \{\n([^}]*)\n\};\n?/m
const defaultOnly = /^export default ([^;]+);\n?/m
const dynamicImport = /\bimport\((".\/[^"]+")\)/g

/** Whether a name gets another value after its own statement; rather once too often. */
const changes = (text, name) => {
  const quoted = name.replaceAll('$', String.raw`\$`)
  const set = new RegExp(
    String.raw`(?<![\w$.])${quoted}\s*(?:=(?![=>])|(?:[-+*/%&|^]|[*&|?<>]{2,3})=(?!=)|\+\+|--)`
      + String.raw`|(?:\+\+|--)\s*${quoted}(?![\w$])`, 'g')
  const own = new RegExp(String.raw`^(?:var|let|const) ${quoted} = `, 'gm')
  return [...text.matchAll(set)].length !== [...text.matchAll(own)].length
}

const propertyOf = (text, part) => {
  const [name, as = name] = part.trim().split(' as ')
  const key = JSON.stringify(as)
  return changes(text, name) ? `get ${key}() { return ${name} }` : `${key}: ${name}`
}

/**
 * A chunk whose exports are one object, made at its end. Chunks never need each other in a circle,
 * so nobody looks before that.
 * @param {string} text a chunk as esbuild writes it: ES module, not minified
 */
export const withPlainExports = (text) => {
  const plain = text.replace(dynamicImport, 'Promise.resolve().then(() => require($1))')
  const only = defaultOnly.exec(plain)
  if (only !== null) {
    return `${plain.replace(defaultOnly, '')}\nmodule.exports = {`
      + `__esModule: true, "default": ${only[1]}};\n`
  }
  const found = statement.exec(plain)
  if (found === null) return plain
  const rest = plain.replace(statement, '')
  const properties = found[1].split(',').map((part) => propertyOf(rest, part))
  return `${rest}\nmodule.exports = {__esModule: true, ${properties.join(', ')}};\n`
}
