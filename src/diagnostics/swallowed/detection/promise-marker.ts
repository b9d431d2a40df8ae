import type { Edits } from './edits.js'
import { handlerKind, referenceKind } from './handler-kind.js'
import { caughtMark, caughtStatement, handlerMark, keptIn, type Locate, openList } from './marks.js'
import { GLOBALS, type Site } from './site.js'
import { isFunction, isNode, type Node } from './syntax.js'

/** Marks the handlers of promises: those of `.catch(handler)` and `.then(_, handler)`. */
export class PromiseMarker {
  readonly #code: string
  readonly #edits: Edits
  readonly #locate: Locate
  readonly #caught = new Map<Node, string>()

  constructor(code: string, edits: Edits, locate: Locate) {
    this.#code = code
    this.#edits = edits
    this.#locate = locate
  }

  mark({ callee, arguments: given }: Node): void {
    if (!isNode(callee) || callee.type !== 'MemberExpression' || callee.computed) return
    const args = given as Node[]
    const method = (callee.property as Node).name
    const handler = method === 'catch' && args.length === 1 ? args[0] : method === 'then' ? args[1] : undefined
    if (!handler || args.length > 2 || args[0]?.type === 'SpreadElement') return
    const location = this.#locate(handler.start)
    if (location === null) return
    if (!this.#markFunction(handler, location) && isReference(handler)) this.#wrap(handler, location)
  }

  /** By which name a handler that was marked knows what it received. */
  caughtBy(handler: Node): string | null {
    return this.#caught.get(handler) ?? null
  }

  /** A function that is written in place is marked inside, so that no frame of ours comes into its stack. */
  #markFunction(handler: Node, location: string): boolean {
    if (!isFunction(handler) || handler.generator) return false
    const name = this.#parameterOf(handler)
    if (name === null) return false
    const body = handler.body as Node
    const site: Site = { location, kind: handlerKind(body, this.#code), of_promise: true }
    if (body.type === 'BlockStatement') this.#markBody(handler, body, name, caughtStatement(name, site))
    else if (!this.#markExpression(handler, body, caughtMark(name, site))) return false
    if ((handler.params as Node[]).length === 0) {
      this.#edits.insert(this.#code.indexOf('(', handler.start) + 1, name)
    }
    return true
  }

  /** The name of what it receives; one that receives nothing is given a name, where it is plain how. */
  #parameterOf(handler: Node): string | null {
    const [first, second] = handler.params as Node[]
    if (first) return first.type === 'Identifier' && !second ? String(first.name) : null
    const head = this.#code.slice(handler.start, (handler.body as Node).start)
    return /^(?:async\s+)?(?:function\s*[\p{ID_Continue}$]*\s*)?\(\s*\)/u.test(head) ? GLOBALS.error : null
  }

  /** Behind 'use strict', which counts only where nothing stands before it. */
  #markBody(handler: Node, body: Node, name: string, mark: string): void {
    const { name: kept, declaration } = keptIn(body, name)
    this.#caught.set(handler, kept)
    const directives = (body.body as Node[]).filter((statement) => typeof statement.directive === 'string')
    const last = directives.at(-1)
    this.#edits.insert(last ? last.end : body.start + 1, `${last ? ';' : ''}${mark};${declaration}`)
  }

  /**
   * Behind the expression: one that fails has swallowed nothing. Without a guard against an overflow, because a promise
   * calls its handlers with an empty stack.
   */
  #markExpression(handler: Node, body: Node, mark: string): boolean {
    const [parameter] = handler.params as Node[]
    const from = parameter ? parameter.end : handler.start
    const head = UP_TO_ARROW.exec(this.#code.slice(from, body.start))
    if (!head) return false
    openList(this.#edits, this.#code, from + head[0].length)
    this.#edits.insert(handler.end, `,${mark}][0]`)
    return true
  }

  #wrap(handler: Node, location: string): void {
    this.#edits.insert(handler.start, '[')
    const kind = referenceKind(handler, this.#code)
    this.#edits.insert(handler.end, handlerMark({ location, kind, of_promise: true }))
  }
}

/** Comments are read over: one may hold an arrow of its own. */
const UP_TO_ARROW = /^(?:\s|\/\/.*|\/\*[\s\S]*?\*\/|[(),]|async)*=>/

/** What may turn out to be a function. Zod and others have a `catch` that takes a plain value. */
function isReference({ type, name }: Node): boolean {
  return (
    /^(?:Identifier|Member|Call|Chain|Conditional|Logical|Function|ArrowFunction)/.test(type) && name !== 'undefined'
  )
}
