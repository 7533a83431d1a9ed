// `tsc --noEmit` and `eslint .` over one program: the rules with types ask the checker that has
// just checked it. Apart they would each read and check everything.
import { ESLint } from 'eslint'
import ts from 'typescript'
import { root } from './run.js'

const typed = ['src/**/*.ts', 'test/**/*.ts', 'bench/**/*.ts']

const { config, error } = ts.readConfigFile(`${root}/tsconfig.json`, ts.sys.readFile)
if (error !== undefined) throw new Error(ts.flattenDiagnosticMessageText(error.messageText, '\n'))
const parsed = ts.parseJsonConfigFileContent(config, ts.sys, root)
const program = ts.createProgram(parsed.fileNames, { ...parsed.options, noEmit: true })
const problems = [...parsed.errors, ...ts.getPreEmitDiagnostics(program)]
if (problems.length > 0) {
  console.log(ts.formatDiagnostics(problems, {
    getCanonicalFileName: (name) => name,
    getCurrentDirectory: () => root,
    getNewLine: () => '\n',
  }))
}

const eslint = new ESLint({
  cwd: root,
  overrideConfig: {
    files: typed,
    languageOptions: { parserOptions: { projectService: false, programs: [program] } },
  },
})
const results = (await eslint.lintFiles(['.'])).filter(
  ({ errorCount, warningCount }) => errorCount + warningCount > 0,
)
if (results.length > 0) console.log((await eslint.loadFormatter('stylish')).format(results))
process.exitCode = problems.length + results.length === 0 ? 0 : 1
