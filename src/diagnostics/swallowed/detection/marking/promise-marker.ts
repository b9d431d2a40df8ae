import type MagicString from 'magic-string'
import { GLOBALS, type Site } from '../site.js'
import { caughtCall, caughtStatement, caughtVariable, handlerSuffix, type Locate, openArray } from './marks.js'
import { handlerKind, referenceKind } from './site-kinds.js'
import { isFunction, isNode, type Node } from './syntax.js'

/** Marks the handlers in `.catch(handler)` and `.then(onFulfilled, handler)`. */
export class PromiseMarker {
  readonly #code: string
  readonly #text: MagicString
  readonly #locate: Locate
  readonly #caughtNames = new Map<Node, string>()

  constructor(text: MagicString, locate: Locate) {
    this.#code = text.original
    this.#text = text
    this.#locate = locate
  }

  mark({ callee, arguments: callArguments }: Node): void {
    if (!isNode(callee) || callee.type !== 'MemberExpression' || callee.computed) return
    const args = callArguments as Node[]
    const method = (callee.property as Node).name
    const handler = method === 'catch' && args.length === 1 ? args[0] : method === 'then' ? args[1] : undefined
    if (!handler || args.length > 2 || args[0]?.type === 'SpreadElement') return
    const location = this.#locate(handler.start)
    if (location === null) return
    if (!this.#markFunction(handler, location) && isReference(handler)) this.#wrapReference(handler, location)
  }

  /** Returns the variable that contains the caught error in a marked handler. */
  caughtName(handler: Node): string | null {
    return this.#caughtNames.get(handler) ?? null
  }

  /** Marks an inline function in its body. A wrapper would add a frame to its stack. */
  #markFunction(handler: Node, location: string): boolean {
    if (!isFunction(handler) || handler.generator) return false
    const name = this.#parameterName(handler)
    if (name === null) return false
    const body = handler.body as Node
    const site: Site = { location, kind: handlerKind(body, this.#code), isPromiseHandler: true }
    if (body.type === 'BlockStatement') this.#markBody(handler, body, name, caughtStatement(name, site))
    else if (!this.#markExpression(handler, body, caughtCall(name, site))) return false
    if ((handler.params as Node[]).length === 0) {
      this.#text.appendLeft(this.#code.indexOf('(', handler.start) + 1, name)
    }
    return true
  }

  /** Returns the name of the parameter, or a generated name if the function has none. Null if it cannot be marked. */
  #parameterName(handler: Node): string | null {
    const [first, second] = handler.params as Node[]
    if (first) return first.type === 'Identifier' && !second ? String(first.name) : null
    const head = this.#code.slice(handler.start, (handler.body as Node).start)
    return /^(?:async\s+)?(?:function\s*[\p{ID_Continue}$]*\s*)?\(\s*\)/u.test(head) ? GLOBALS.error : null
  }

  /** Inserts the mark after directives such as 'use strict', which must come first. */
  #markBody(handler: Node, body: Node, name: string, mark: string): void {
    const { name: caughtName, declaration } = caughtVariable(body, name)
    this.#caughtNames.set(handler, caughtName)
    const directives = (body.body as Node[]).filter((statement) => typeof statement.directive === 'string')
    const last = directives.at(-1)
    this.#text.appendLeft(last ? last.end : body.start + 1, `${last ? ';' : ''}${mark};${declaration}`)
  }

  /**
   * Inserts the mark after the expression, because an expression that throws swallows nothing. Needs no guard against a
   * stack overflow: promises call their handlers with an empty stack.
   */
  #markExpression(handler: Node, body: Node, mark: string): boolean {
    const [parameter] = handler.params as Node[]
    const start = parameter ? parameter.end : handler.start
    const head = UP_TO_ARROW.exec(this.#code.slice(start, body.start))
    if (!head) return false
    openArray(this.#text, start + head[0].length)
    this.#text.appendLeft(handler.end, `,${mark}][0]`)
    return true
  }

  #wrapReference(handler: Node, location: string): void {
    this.#text.appendLeft(handler.start, '[')
    const kind = referenceKind(handler, this.#code)
    this.#text.appendLeft(handler.end, handlerSuffix({ location, kind, isPromiseHandler: true }))
  }
}

/** Skips comments, because they can contain an arrow. */
const UP_TO_ARROW = /^(?:\s|\/\/.*|\/\*[\s\S]*?\*\/|[(),]|async)*=>/

/** Detects expressions that can evaluate to a function. Zod and similar libraries pass other values to `catch`. */
function isReference({ type, name }: Node): boolean {
  return (
    /^(?:Identifier|Member|Call|Chain|Conditional|Logical|Function|ArrowFunction)/.test(type) && name !== 'undefined'
  )
}
