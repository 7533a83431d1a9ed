// Rules of our own, for oxlint. They look at the text alone and ask for no types.

/** A rule that reports each node that a selector finds. */
const forbidden = (selectors, message) => ({
  meta: { type: 'problem', schema: [], messages: { found: message } },
  create: (context) => Object.fromEntries(selectors.map((selector) =>
    [selector, (node) => context.report({ node, messageId: 'found' })])),
})

/** Types whose values say by their name and their fields what they are. */
const plainTypes = /^(?:VerbRecord|Index|CollectionSpec)$/

/** What gives a record that says what it is for: its name, or its summary. */
const recordMakers = /^(?:verb|verbOf|contract)$/

/**
 * Whether name and type say what is declared: records of verbs and contracts, indexes, collections,
 * types of a shape that is described itself, and functions whose name has several words.
 */
const saysItself = ({ id, init, typeAnnotation }) =>
  recordMakers.test(init?.type === 'CallExpression' ? init.callee.name : '')
  || plainTypes.test(id.typeAnnotation?.typeAnnotation.typeName?.name)
  || typeAnnotation?.typeName?.right?.name === 'InferOutput'
  || (/[a-z][A-Z]/.test(id.name) && init?.type === 'ArrowFunctionExpression')

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
    const isPlain = ({ declaration }) =>
      (declaration.declarations ?? [declaration]).some((one) => one.id && saysItself(one))
    return {
      ExportNamedDeclaration(node) {
        if (node.declaration === null || described(node) || follows(node) || isPlain(node)) return
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

const assertion = (names) => `CallExpression[callee.property.name=/^(?:${names})$/]`

const report = (context, node) => context.report({ node, messageId: 'found' })

/** How many there are of something is never less than nothing. */
const counts = '[left.property.name=/^(?:length|size|byteLength)$/]'

const constant = ':matches(Literal, TemplateLiteral, ArrowFunctionExpression)'

/** A pattern of which every text has a part. */
const anything = String.raw`/^(?:\^|\$|\.[*+?]?|\(\?:\))*$/`

/** Assertions that cannot fail, or whose failure nobody hears of. */
const idle = [
  `UnaryExpression[operator='void'] > ${assertion('rejects|resolves|emits')}`,
  `BinaryExpression[operator='>=']${counts}[right.value=0]`,
  `BinaryExpression[operator='>']${counts}[right.operator='-']`,
  `${assertion('ok|notOk')} > ${constant}:first-child`,
  `${assertion('throws|rejects|match')} > Literal[regex.pattern=${anything}]`,
  `${assertion('match')} > Literal[value='']:nth-child(2)`,
  // Under names of their own they are tap's, of tap's types.
  "ImportDeclaration[source.value='tap'] > ImportSpecifier[imported.name!='Test']",
  "ImportDeclaration[source.value=/^@tapjs/][importKind!='type']",
]

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
    // What types cannot tell of an assertion that passes whatever happens; the types of all others
    // are those of test/support/tap-asserts.d.ts.
    'failing-assertion': {
      ...forbidden([], 'Passes whatever happens: say what must be, so that it can fail.'),
      create: (context) => Object.fromEntries([
        ...idle.map((selector) => [selector, (node) => report(context, node)]),
        [assertion('equal|strictSame|hasStrict|matchStrict|match'), (node) => {
          const [found, wanted] = node.arguments.map((one) => context.sourceCode.getText(one))
          const isRead = !/Call|Await|New/.test(node.arguments[0]?.type)
          if (isRead && found === wanted) report(context, node)
        }],
      ]),
    },
  },
}
