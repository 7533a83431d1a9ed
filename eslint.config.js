import tseslint from 'typescript-eslint'

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
      return (
        previous?.type === 'ExportNamedDeclaration' &&
        previous.loc.end.line + 1 === node.loc.start.line
      )
    }
    // The record of a verb says what it is for in its summary.
    const isVerb = ({ declaration }) => declaration.declarations?.some(({ id, init }) =>
      (init?.type === 'CallExpression' && init.callee.name === 'verb')
      || id.typeAnnotation?.typeAnnotation.typeName?.name === 'VerbRecord')
    return {
      ExportNamedDeclaration(node) {
        if (node.declaration === null || described(node) || follows(node) || isVerb(node)) return
        context.report({ node, messageId: 'missing' })
      },
    }
  },
}

/**
 * Tap's `same` takes 1 for '1', and `match` of an object takes 'abc' where 'a' was meant: both are
 * replaced by strict ones. Patterns with a regular expression in them are `matchStrict`.
 */
const looseComparison = [
  {
    selector: "CallExpression[callee.object.name='t'][callee.property.name=/^(same|notSame|has)$/]",
    message: 'Compare strictly: t.strictSame, t.strictNotSame, t.hasStrict.',
  },
  {
    selector: "CallExpression[callee.object.name='t'][callee.property.name='match']"
      + '[arguments.1.type=/^(Object|Array)Expression$/]',
    message: 'Compare strictly: t.hasStrict, or t.matchStrict with a regular expression inside.',
  },
]

const processUse = [
  'stdout', 'stderr', 'stdin', 'exit', 'exitCode', 'abort', 'on', 'once', 'env', 'argv', 'execArgv',
  'emitWarning', 'cwd',
].map((property) => ({
  object: 'process',
  property,
  message: 'Only src/cli/io.ts touches the process; take it from the dependencies.',
}))

const rules = {
  'no-console': 'error',
  'no-eval': 'error',
  'prefer-const': 'error',
  eqeqeq: 'error',
  'no-restricted-syntax': [
    'error',
    { selector: 'ExportDefaultDeclaration', message: 'Exports have names.' },
  ],
}

/** A fixed limit fails on a busy machine; the runner gives each file one that grows with it. */
const ownTimeLimit = [{
  selector: 'CallExpression[callee.object.name="t"][callee.property.name="setTimeout"]',
  message: 'No test has a time limit of its own; see test/support/speed.ts.',
}]

export default tseslint.config(
  { ignores: ['dist/', '.build/', '.tap/', 'coverage/', 'node_modules/'] },
  {
    files: ['src/**/*.ts', 'test/**/*.ts', 'bench/**/*.ts'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      ...rules,
      'max-lines-per-function': ['error', { max: 70, skipComments: true }],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error', { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      '@typescript-eslint/prefer-promise-reject-errors': [
        'error', { allowThrowingAny: true, allowThrowingUnknown: true },
      ],
      // Interfaces declare methods, and what implements them does not use `this`.
      '@typescript-eslint/unbound-method': 'off',
      // A use case may be asynchronous by contract and have nothing to wait for.
      '@typescript-eslint/require-await': 'off',
    },
  },
  {
    files: ['src/**/*.ts'],
    plugins: { local: { rules: { docstring } } },
    rules: {
      'local/docstring': 'error',
      'no-restricted-properties': ['error', ...processUse],
      'no-restricted-imports': ['error', { paths: ['process', 'node:process', 'console'] }],
    },
  },
  // The modules that own a process: of the program, and of the producer's supervisor.
  {
    files: ['src/cli/io.ts', 'src/codehost/producer/supervisor/main.ts'],
    rules: { 'no-restricted-properties': 'off' },
  },
  {
    files: ['test/**/*.ts', 'bench/**/*.ts'],
    rules: {
      'no-restricted-syntax': [
        ...rules['no-restricted-syntax'], ...looseComparison, ...ownTimeLimit,
      ],
      // Tests are lists of cases; fakes have loose types.
      'max-lines-per-function': 'off',
      '@typescript-eslint/no-floating-promises': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-misused-promises': 'off',
    },
  },
  {
    files: ['scripts/**/*.js', 'bin/*.js', '*.js'],
    rules: {
      'prefer-const': 'error', eqeqeq: 'error', 'no-eval': 'error',
      'max-lines-per-function': ['error', { max: 70, skipComments: true }],
    },
  },
)
