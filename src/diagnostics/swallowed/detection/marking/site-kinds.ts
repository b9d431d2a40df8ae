import type { HandlerKind, ThrowKind } from '../site.js'
import { isNode, type Node, someOwnNode, someUnguardedNode } from './syntax.js'

/** Classifies a handler by the code in its body. */
export function handlerKind(body: Node, code: string): HandlerKind {
  const statements = body.type === 'BlockStatement' ? (body.body as Node[]) : [body]
  if (statements.length === 0) return 'empty'
  if (statements.length === 1 && isNoop(statements[0] as Node)) return 'empty'
  if (someUnguardedNode(body, (node) => node.type === 'ThrowStatement' || isCallTo(node, code, REJECTING_FUNCTION)))
    return 'may_rethrow'
  if (someOwnNode(body, (node) => isCallTo(node, code, REPORTING_FUNCTION))) return 'may_report'
  if (someOwnNode(body, (node) => isCallTo(node, code, LOGGING_FUNCTION))) return 'logs'
  return someOwnNode(body, isCall) ? 'other' : 'value'
}

/** Classifies a handler passed by reference by its name. */
export function referenceKind(handler: Node, code: string): HandlerKind {
  const name = code.slice(handler.start, handler.end)
  if (REJECTING_FUNCTION.test(name)) return 'may_rethrow'
  if (REPORTING_FUNCTION.test(name)) return 'may_report'
  if (LOGGING_FUNCTION.test(name)) return 'logs'
  return /(?:^|\.)noop$/i.test(name) ? 'empty' : 'reference'
}

const REJECTING_FUNCTION = /(?:^|\.)_?rej(?:ect)?$/
const REPORTING_FUNCTION = /(?:^|\.)(?:next|done|cb|callback)$|report|capture|notify|LogError|handleError/i
const LOGGING_FUNCTION = /^console\.|(?:^|\.)(?:log|logger|warn|debug|trace)\b|logger?\./i

function isCall({ type }: Node): boolean {
  return /^(?:Call|New|Await|TaggedTemplate|Import|Yield)/.test(type)
}

function isCallTo(node: Node, code: string, name: RegExp): boolean {
  if (node.type !== 'CallExpression' || !isNode(node.callee)) return false
  return name.test(code.slice(node.callee.start, node.callee.end))
}

/** Detects `return`, `return undefined`, `void 0` and similar statements without effect. */
function isNoop(node: Node): boolean {
  if (node.type === 'EmptyStatement') return true
  const value = node.type === 'ReturnStatement' || node.type === 'ExpressionStatement' ? expressionIn(node) : node
  if (value === null) return true
  if (value.type === 'Identifier') return value.name === 'undefined'
  return value.type === 'UnaryExpression' && value.operator === 'void'
}

function expressionIn({ argument, expression }: Node): Node | null {
  if (isNode(argument)) return argument
  return isNode(expression) ? expression : null
}

/** Classifies a thrown expression: a new error, the caught error, a variable or a constant. */
export function throwKind(
  argument: Node,
  caughtNames: readonly string[],
  constantNames: ReadonlySet<string>,
): ThrowKind {
  const name = rootName(argument)
  if (name === null) return 'new'
  if (argument.type === 'Identifier' && caughtNames.includes(name)) return 'rethrow'
  return constantNames.has(name) ? 'constant' : 'variable'
}

/** Returns the first name of `error`, `this.error` or `Errors.NotFound`. Null for calls and other expressions. */
function rootName(node: Node): string | null {
  if (node.type === 'Identifier') return String(node.name)
  if (node.type === 'ThisExpression') return 'this'
  if (node.type === 'MemberExpression' && isNode(node.object)) return rootName(node.object)
  return null
}

/** Returns the names of the constants, classes and imports at the top level of a file. */
export function topLevelConstants({ body }: Node): Set<string> {
  const names = new Set<string>()
  for (const statement of body as Node[]) {
    const declaration = isNode(statement.declaration) ? statement.declaration : statement
    if (declaration.type === 'ImportDeclaration')
      for (const { local } of declaration.specifiers as Node[]) addName(names, local)
    if (declaration.type === 'ClassDeclaration') addName(names, declaration.id)
    if (declaration.type !== 'VariableDeclaration' || declaration.kind !== 'const') continue
    for (const { id } of declaration.declarations as Node[]) addPatternNames(names, id)
  }
  return names
}

function addPatternNames(names: Set<string>, pattern: unknown): void {
  if (!isNode(pattern)) return
  addName(names, pattern)
  if (pattern.type !== 'ObjectPattern') return
  for (const { value } of pattern.properties as Node[]) addName(names, value)
}

function addName(names: Set<string>, node: unknown): void {
  if (isNode(node) && node.type === 'Identifier') names.add(String(node.name))
}
