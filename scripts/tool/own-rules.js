// Rules of our own, for oxlint. They look at the text alone and ask for no types.

/** A rule that reports each node that a selector finds. */
const forbidden = (selectors, message) => ({
  meta: { type: 'problem', schema: [], messages: { found: message } },
  create: (context) => Object.fromEntries(selectors.map((selector) =>
    [selector, (node) => context.report({ node, messageId: 'found' })])),
})

/** An export says what it is for, in a comment of its own right before it. */
const docstring = {
  meta: { type: 'suggestion', schema: [], messages: { missing: 'Describe what is exported.' } },
  create(context) {
    const source = context.sourceCode
    const described = (node) => {
      const before = source.getCommentsBefore(node).at(-1)
      return before?.type === 'Block' && before.value.startsWith('*')
    }
    // Types inferred from the shape right above them are described by it, overloads by the first.
    const follows = (node) => {
      const previous = source.ast.body[source.ast.body.indexOf(node) - 1]
      const isAbove = previous?.loc.end.line + 1 === node.loc.start.line
      return isAbove && (previous.type === 'ExportNamedDeclaration' || described(previous))
    }
    // The record of a verb says what it is for in its summary.
    const isVerb = ({ declaration }) => declaration.declarations?.some(({ id, init }) =>
      (init?.type === 'CallExpression' && /^verb(Of)?$/.test(init.callee.name))
      || id.typeAnnotation?.typeAnnotation.typeName?.name === 'VerbRecord')
    return {
      ExportNamedDeclaration(node) {
        if (node.declaration === null || described(node) || follows(node) || isVerb(node)) return
        context.report({ node, messageId: 'missing' })
      },
    }
  },
}

const processUse = [
  'stdout', 'stderr', 'stdin', 'exit', 'exitCode', 'abort', 'on', 'once', 'env', 'argv', 'execArgv',
  'emitWarning', 'cwd',
]

const calls = (method) =>
  `CallExpression[callee.object.name='t'][callee.property.name=${method}]`

/** The rules, by name. */
export default {
  meta: { name: 'local' },
  rules: {
    docstring,
    'named-exports': forbidden(['ExportDefaultDeclaration'], 'Exports have names.'),
    'own-process': forbidden(
      processUse.flatMap((name) => [
        `MemberExpression[object.name='process'][property.name='${name}']`,
        `MemberExpression[object.name='process'][property.value='${name}']`,
        `VariableDeclarator[init.name='process'] > ObjectPattern > Property[key.name='${name}']`,
      ]),
      'Only src/cli/io.ts touches the process; take it from the dependencies.',
    ),
    'one-platform': forbidden([
      "MemberExpression[object.name='process'][property.name='platform']",
      "MemberExpression[object.name='process'][property.value='platform']",
      "VariableDeclarator[init.name='process'] > ObjectPattern > Property[key.name='platform']",
      String.raw`Literal[value=/^\/proc\b/]`, String.raw`TemplateElement[value.raw=/^\/proc\b/]`,
    ], 'What differs between systems lies in src/base/platform.'),
    // A fixed limit fails on a busy machine; the runner gives each file one that grows with it.
    'own-time-limit': forbidden([calls("'setTimeout'")],
      'No test has a time limit of its own; see test/support/speed.ts.'),
    // Tap's `same` takes 1 for '1', and `match` of an object takes 'abc' where 'a' was meant: both
    // are replaced by strict ones. Patterns with a regular expression in them are `matchStrict`.
    'strict-comparison': forbidden([
      calls('/^(same|notSame|has)$/'),
      `${calls("'match'")}[arguments.1.type=/^(Object|Array)Expression$/]`,
    ], 'Compare strictly: t.strictSame, t.hasStrict, t.matchStrict with a pattern inside.'),
  },
}
