// Mutants of TypeScript sources: where a text can be changed, and which of these places a seed chooses. Pure functions,
// which `source-mutants.ts` uses. Runs on Node's type stripping, so its syntax is erasable.
import { createHash } from 'node:crypto'
import ts from 'typescript'

/** One change of one file. */
export interface Mutant {
  readonly file: string
  /** Line of the change, from 1. */
  readonly line: number
  readonly operator: string
  /** Offsets of `before` in the text of the file. */
  readonly start: number
  readonly end: number
  readonly before: string
  readonly after: string
}

/** Boundary first, where there is one, and negation. */
const comparisons: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
}
const logical: Readonly<Record<string, string>> = { '&&': '||', '||': '&&' }
const arithmetic: Readonly<Record<string, string>> = { '+': '-', '-': '+', '*': '/', '/': '*' }

/** Fields of tables that only documentation, help, and the text of a hint read. */
const documentation = new Set(['summary', 'description', 'about', 'example', 'examples', 'hint', 'hints'])

/** Finds every mutant of a source file, in the order of the syntax tree. */
export function mutantsOf(file: string, text: string): Mutant[] {
  const kind = file.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true, kind)
  const found: Mutant[] = []
  visit(source, false)
  return found

  function visit(node: ts.Node, isMessage: boolean): void {
    if (isSkipped(node)) return
    mutate(node, isMessage)
    const isError = ts.isNewExpression(node) && /Error$/.test(node.expression.getText())
    ts.forEachChild(node, (child) => visit(child, isMessage || isError))
  }

  function mutate(node: ts.Node, isMessage: boolean): void {
    if (ts.isBinaryExpression(node)) binary(node, isMessage)
    else if (ts.isIfStatement(node) || ts.isWhileStatement(node) || ts.isDoStatement(node)) negate(node.expression)
    else if (ts.isConditionalExpression(node)) negate(node.condition)
    else if (node.kind === ts.SyntaxKind.TrueKeyword) add('boolean', node, 'false')
    else if (node.kind === ts.SyntaxKind.FalseKeyword) add('boolean', node, 'true')
    else if (ts.isNumericLiteral(node) || ts.isBigIntLiteral(node)) integer(node)
    else if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) {
      if (!isMessage && node.text !== '' && isValue(node)) add('string', node, "''")
    } else if (ts.isExpressionStatement(node)) {
      // An empty statement instead of nothing, because the call may be the whole branch of an `if`.
      if (isRemovableCall(node.expression)) add('remove call', node, ';')
    } else if (ts.isReturnStatement(node) && node.expression !== undefined) {
      const isUndefined = node.expression.getText() === 'undefined'
      if (!isUndefined && !isInConstructor(node)) add('return', node.expression, 'undefined')
    } else if (ts.isQuestionDotToken(node)) {
      add('optional chaining', node, ts.isPropertyAccessExpression(node.parent) ? '.' : '')
    } else if (ts.isArrayLiteralExpression(node) && node.elements.length > 0) add('array', node, '[]')
  }

  function binary(node: ts.BinaryExpression, isMessage: boolean): void {
    const { operatorToken } = node
    const operator = operatorToken.getText()
    for (const other of comparisons[operator] ?? []) add('comparison', operatorToken, other)
    if (logical[operator] !== undefined) add('logical', operatorToken, logical[operator])
    // The difference of two texts is NaN, so the mutant would not test the comparison of numbers.
    if (arithmetic[operator] !== undefined && !isMessage && !(operator === '+' && isText(node)))
      add('arithmetic', operatorToken, arithmetic[operator])
    if (operator === '??') add('nullish', node, node.left.getText())
  }

  function negate(condition: ts.Expression): void {
    // A comparison, `true` and `false` have another mutant with the same effect.
    if (ts.isBinaryExpression(condition) && comparisons[condition.operatorToken.getText()] !== undefined) return
    if (condition.kind === ts.SyntaxKind.TrueKeyword || condition.kind === ts.SyntaxKind.FalseKeyword) return
    add('negate condition', condition, `!(${condition.getText()})`)
  }

  function integer(node: ts.NumericLiteral | ts.BigIntLiteral): void {
    const written = node.getText()
    if (!/^\d[\d_]*n?$/.test(written) || isName(node)) return
    const next = BigInt(written.replace(/[_n]/g, '')) + 1n
    add('integer', node, `${next}${written.endsWith('n') ? 'n' : ''}`)
  }

  function add(operator: string, node: ts.Node, after: string): void {
    const [start, end] = [node.getStart(), node.getEnd()]
    const line = source.getLineAndCharacterOfPosition(start).line + 1
    found.push({ file, line, operator, start, end, before: text.slice(start, end), after })
  }
}

/** The text of the file with the mutant in it. */
export function apply(text: string, { start, end, after }: Mutant): string {
  return text.slice(0, start) + after + text.slice(end)
}

/** Chooses at most `count` items in a random order. A greater count with the same seed begins with the same items. */
export function choose<T>(items: readonly T[], count: number, seed: string): T[] {
  const random = mulberry32(createHash('sha256').update(seed).digest().readUInt32LE())
  const left = [...items]
  const chosen: T[] = []
  while (chosen.length < count && left.length > 0) chosen.push(...left.splice(Math.floor(random() * left.length), 1))
  return chosen
}

function mulberry32(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Whether nothing below the node is changed: it does not exist at run time, or no test should depend on it. */
function isSkipped(node: ts.Node): boolean {
  if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return true
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node) || ts.isDecorator(node)) return true
  if (ts.canHaveModifiers(node) && node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.DeclareKeyword))
    return true
  if (ts.isPropertyAssignment(node) && documentation.has(node.name.getText())) return true
  // The left side of an assignment looks like an array with elements, and is a pattern.
  if (!ts.isArrayLiteralExpression(node) && !ts.isObjectLiteralExpression(node)) return false
  const { parent } = node
  if (ts.isForOfStatement(parent)) return parent.initializer === node
  return ts.isBinaryExpression(parent) && parent.operatorToken.getText() === '=' && parent.left === node
}

/** Whether a literal is a value: not a name, a directive, the argument of `import()`, or the text of a tag. */
function isValue(node: ts.StringLiteral | ts.NoSubstitutionTemplateLiteral): boolean {
  const { parent } = node
  if (isName(node) || ts.isExpressionStatement(parent) || ts.isTaggedTemplateExpression(parent)) return false
  return !(ts.isCallExpression(parent) && parent.expression.kind === ts.SyntaxKind.ImportKeyword)
}

/** Whether a literal is the name of a property, not its value. */
function isName(node: ts.Node): boolean {
  return (node.parent as Partial<ts.PropertyAssignment>).name === node
}

function isText(node: ts.Expression): boolean {
  if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) return true
  return ts.isBinaryExpression(node) && (isText(node.left) || isText(node.right))
}

/** The call of `super` stays, because a constructor without it always throws. */
function isRemovableCall(expression: ts.Expression): boolean {
  if (ts.isAwaitExpression(expression) || ts.isVoidExpression(expression)) return isRemovableCall(expression.expression)
  return ts.isCallExpression(expression) && expression.expression.kind !== ts.SyntaxKind.SuperKeyword
}

function isInConstructor(node: ts.Node): boolean {
  const owner = ts.findAncestor(node, ts.isFunctionLike)
  return owner !== undefined && ts.isConstructorDeclaration(owner)
}
