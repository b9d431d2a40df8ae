import type { HandlerKind } from './site.js'
import { isNode, type Node, some, someEscapes } from './syntax.js'

/** What the code that catches does with it, as far as it can be told by looking at it. */
export function handlerKind(body: Node, code: string): HandlerKind {
  const statements = body.type === 'BlockStatement' ? (body.body as Node[]) : [body]
  if (statements.length === 0) return 'empty'
  if (statements.length === 1 && isNothing(statements[0] as Node)) return 'empty'
  const holder: Node = { type: 'Handler', start: body.start, end: body.end, statements }
  if (someEscapes(holder, (node) => node.type === 'ThrowStatement' || isCallOf(node, code, REJECTS)))
    return 'may_rethrow'
  if (some(holder, (node) => isCallOf(node, code, REPORTS))) return 'may_report'
  if (some(holder, (node) => isCallOf(node, code, LOGS))) return 'logs'
  return some(holder, isCall) ? 'other' : 'value'
}

/** The same of a handler that is only named. */
export function referenceKind(handler: Node, code: string): HandlerKind {
  const name = code.slice(handler.start, handler.end)
  if (REJECTS.test(name)) return 'may_rethrow'
  if (REPORTS.test(name)) return 'may_report'
  if (LOGS.test(name)) return 'logs'
  return /(?:^|\.)noop$/i.test(name) ? 'empty' : 'reference'
}

const REJECTS = /(?:^|\.)_?rej(?:ect)?$/
const REPORTS = /(?:^|\.)(?:next|done|cb|callback)$|report|capture|notify|LogError|handleError/i
const LOGS = /^console\.|(?:^|\.)(?:log|logger|warn|debug|trace)\b|logger?\./i

function isCall({ type }: Node): boolean {
  return /^(?:Call|New|Await|TaggedTemplate|Import|Yield)/.test(type)
}

function isCallOf(node: Node, code: string, name: RegExp): boolean {
  if (node.type !== 'CallExpression' || !isNode(node.callee)) return false
  return name.test(code.slice(node.callee.start, node.callee.end))
}

/** `return`, `return undefined`, `null` and their like say nothing. */
function isNothing(node: Node): boolean {
  if (node.type === 'EmptyStatement') return true
  const value = node.type === 'ReturnStatement' || node.type === 'ExpressionStatement' ? nodeIn(node) : node
  if (value === null) return true
  if (value.type === 'Identifier') return value.name === 'undefined'
  return value.type === 'UnaryExpression' && value.operator === 'void'
}

function nodeIn({ argument, expression }: Node): Node | null {
  if (isNode(argument)) return argument
  return isNode(expression) ? expression : null
}
