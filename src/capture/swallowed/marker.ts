import type { Edits } from './edits.js'
import { handlerKind, referenceKind } from './handler-kind.js'
import { GLOBALS, type HandlerKind, markOf } from './site.js'
import { childrenOf, guardedBlock, isFunction, isNode, type Node } from './syntax.js'
import { constantNames, thrownKind } from './thrown-kind.js'

/** The location of an offset for people, or null where it is not the host's own code. */
export type Locate = (offset: number) => string | null

/** What is known of the code around a node. */
interface Around {
  /** The names under which errors are caught further out, the nearest last. */
  caught: readonly string[]
  /** The catch block in the same function that it stands in. */
  inside: string | null
}

const CAUGHT = `globalThis.${GLOBALS.caught}?.`
const THROWN = `].reduceRight(globalThis.${GLOBALS.thrown}||((s,e)=>e),`
const HANDLER = `].reduceRight(globalThis.${GLOBALS.handler}||((s,f)=>f),`

/**
 * Marks what throws and what catches. The marks are chosen so that whatever may stand in a stack keeps its column: they
 * come behind it, or in the place of a blank. A list and `reduceRight` hand a value over from behind, and give it back.
 *
 * @example
 * `throw new Error('x')` // throw[new Error('x')].reduceRight(globalThis.__faultboard_thrown||((s,e)=>e),"src/a.ts:1:1#made")
 * `catch (error) {`      // catch (error) {globalThis.__faultboard_caught?.(error,"src/a.ts:1:3#empty");
 */
export class Marker {
  readonly #code: string
  readonly #edits: Edits
  readonly #locate: Locate
  readonly #constants: ReadonlySet<string>

  constructor(code: string, program: Node, edits: Edits, locate: Locate) {
    this.#code = code
    this.#edits = edits
    this.#locate = locate
    this.#constants = constantNames(program)
  }

  mark(node: Node, around: Around = { caught: [], inside: null }): void {
    let below = around
    // What is thrown there goes no further than its own handler.
    const guarded = guardedBlock(node)
    if (node.type === 'CatchClause') below = this.#markCatch(node, around)
    else if (node.type === 'ThrowStatement') this.#markThrow(node, around)
    else if (node.type === 'CallExpression') this.#markCall(node)
    else if (isFunction(node)) below = { caught: around.caught, inside: null }
    for (const child of childrenOf(node)) this.mark(child, child === guarded ? { ...below, inside: null } : below)
  }

  #markThrow(node: Node, { caught, inside }: Around): void {
    const argument = node.argument as Node
    const location = this.#locate(node.start)
    const behind = node.start + 'throw'.length
    // Without its parentheses it would be two of the list.
    if (location === null || (argument.type === 'SequenceExpression' && this.#code[argument.start - 1] !== '(')) return
    this.#open(behind)
    const kind = thrownKind(argument, caught, this.#constants)
    const end = this.#code[node.end - 1] === ';' ? node.end - 1 : node.end
    this.#edits.insert(end, `${THROWN}${JSON.stringify(markOf({ location, kind, inside }))})`)
  }

  #markCatch(node: Node, { caught }: Around): Around {
    const body = node.body as Node
    const location = this.#locate(node.start)
    const param = isNode(node.param) ? node.param : null
    const name = param?.type === 'Identifier' ? String(param.name) : GLOBALS.error
    if (location === null || (param && name === GLOBALS.error && !this.#isPlainPattern(param))) {
      return { caught: param?.type === 'Identifier' ? [...caught, name] : caught, inside: null }
    }
    const mark = this.#caught(name, location, handlerKind(body, this.#code))
    if (param === null) this.#edits.insert(node.start + 'catch'.length, `(${name})`)
    if (param === null || name !== GLOBALS.error) this.#edits.insert(body.start + 1, `${mark};`)
    else {
      const pattern = this.#code.slice(param.start, param.end)
      this.#edits.replace(param.start, pattern.length, name)
      this.#edits.insert(body.start + 1, `${mark};let ${pattern}=${name};`)
    }
    return { caught: [...caught, name], inside: location }
  }

  /** One that can be written again elsewhere: on one line, and without code that might itself be marked. */
  #isPlainPattern({ start, end }: Node): boolean {
    const text = this.#code.slice(start, end)
    return /^[\p{ID_Continue}$ \t{}[\],:.='"-]*$/u.test(text) && !/\blet\b/.test(text)
  }

  /** `.catch(handler)` and `.then(_, handler)`. */
  #markCall({ callee, arguments: given }: Node): void {
    if (!isNode(callee) || callee.type !== 'MemberExpression' || callee.computed) return
    const args = given as Node[]
    const method = (callee.property as Node).name
    const handler = method === 'catch' && args.length === 1 ? args[0] : method === 'then' ? args[1] : undefined
    if (!handler || args.length > 2 || args[0]?.type === 'SpreadElement') return
    const location = this.#locate(handler.start)
    if (location === null) return
    if (!this.#markFunction(handler, location) && isReference(handler)) this.#wrap(handler, location)
  }

  /** A function that is written in place is marked inside, so that no frame of ours comes into its stack. */
  #markFunction(handler: Node, location: string): boolean {
    if (!isFunction(handler) || handler.generator) return false
    const name = this.#parameterOf(handler)
    if (name === null) return false
    const body = handler.body as Node
    const mark = this.#caught(name, location, handlerKind(body, this.#code), 'promise')
    if (body.type === 'BlockStatement') this.#markBody(body, mark)
    else if (!this.#markExpression(handler, body, mark)) return false
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
  #markBody(body: Node, mark: string): void {
    const directives = (body.body as Node[]).filter((statement) => typeof statement.directive === 'string')
    const last = directives.at(-1)
    this.#edits.insert(last ? last.end : body.start + 1, last ? `;${mark};` : `${mark};`)
  }

  /** Behind the expression: one that fails has swallowed nothing. */
  #markExpression(handler: Node, body: Node, mark: string): boolean {
    const arrow = this.#code.lastIndexOf('=>', body.start) + 2
    // A comment between them might hold an arrow of its own.
    if (!/^[\s(]*$/.test(this.#code.slice(arrow, body.start))) return false
    this.#open(arrow)
    this.#edits.insert(handler.end, `,${mark}][0]`)
    return true
  }

  #wrap(handler: Node, location: string): void {
    const mark = markOf({ location, kind: referenceKind(handler, this.#code), inside: 'promise' })
    this.#edits.insert(handler.start, '[')
    this.#edits.insert(handler.end, `${HANDLER}${JSON.stringify(mark)})`)
  }

  #open(at: number): void {
    if (this.#code[at] === ' ' || this.#code[at] === '\t') this.#edits.replace(at, 1, '[')
    else this.#edits.insert(at, '[')
  }

  #caught(name: string, location: string, kind: HandlerKind, inside: string | null = null): string {
    return `${CAUGHT}(${name},${JSON.stringify(markOf({ location, kind, inside }))})`
  }
}

/** What may turn out to be a function. Zod and others have a `catch` that takes a plain value. */
function isReference({ type, name }: Node): boolean {
  return (
    /^(?:Identifier|Member|Call|Chain|Conditional|Logical|Function|ArrowFunction)/.test(type) && name !== 'undefined'
  )
}
