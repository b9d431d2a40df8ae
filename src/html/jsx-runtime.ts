import type { JSX as Hono } from 'hono/jsx/jsx-runtime'
import { showDirectionControls } from './direction-controls.js'

/** Rendered HTML that is not escaped again. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  toString(): string {
    return this.text
  }
}

/** Marks text as HTML, so that it is not escaped. */
export function raw(text: string): Html {
  return new Html(text)
}

export namespace JSX {
  // biome-ignore lint/suspicious/noExplicitAny: components return elements, texts, lists, nothing, or promises of these.
  export type Element = any
  export type ElementChildrenAttribute = Hono.ElementChildrenAttribute
  export type IntrinsicElements = Hono.IntrinsicElements
}

type Properties = Record<string, unknown>
type Component = (properties: Properties) => unknown

/**
 * Renders an element immediately. The compiler translates JSX into calls to this function, innermost element first. An
 * element with an asynchronous part becomes a promise, as do the elements around it.
 */
export function jsx(tag: string | Component, properties: Properties): unknown {
  if (typeof tag === 'function') return markHandled(tag(properties))
  let start = `<${tag}`
  for (const name in properties) if (name !== 'children') start += renderAttribute(name, properties[name])
  if (VOID_TAGS.has(tag)) return new Html(`${start}/>`)
  return whenRendered(render(properties.children), (content) => new Html(`${start}>${content}</${tag}>`))
}

/** @alias Name that the compiler uses for elements with several children. */
export const jsxs = jsx

export function Fragment({ children }: { children?: unknown }): unknown {
  return whenRendered(render(children), raw)
}

function whenRendered<Result>(
  content: string | Promise<string>,
  complete: (content: string) => Result,
): Result | Promise<Result> {
  return typeof content === 'string' ? complete(content) : markHandled(content.then(complete))
}

/** Prevents an unhandled rejection, which would crash the host, if another part of the page fails first. */
function markHandled<Result>(result: Result): Result {
  if (result instanceof Promise) result.catch(() => {})
  return result
}

function render(child: unknown): string | Promise<string> {
  if (typeof child === 'string') return escapeText(child)
  if (child instanceof Html) return child.text
  if (child === null || child === undefined || typeof child === 'boolean') return ''
  if (Array.isArray(child)) return renderAll(child)
  if (child instanceof Promise) return markHandled(child.then(render))
  return escapeText(String(child))
}

function renderAll(children: readonly unknown[]): string | Promise<string> {
  let text = ''
  for (let i = 0; i < children.length; i++) {
    const content = render(children[i])
    if (typeof content !== 'string') return joinWhenRendered(text, content, renderAll(children.slice(i + 1)))
    text += content
  }
  return text
}

async function joinWhenRendered(...parts: (string | Promise<string>)[]): Promise<string> {
  // Unlike `join`, concatenation does not copy the whole page for each element around an asynchronous part.
  return (await Promise.all(parts)).reduce((text, part) => text + part, '')
}

function renderAttribute(name: string, value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'boolean' && BOOLEAN_ATTRIBUTES.has(name)) return value ? ` ${name}=""` : ''
  return ` ${name}="${escapeText(String(value))}"`
}

/** HTML special characters and bidirectional control characters (`showDirectionControls`). */
const SPECIAL_CHARACTER = /[&<>"'\u202A-\u202E\u2066-\u2069]/
const SPECIAL_CHARACTERS = new RegExp(SPECIAL_CHARACTER, 'g')
const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escapeText(text: string): string {
  // Most text contains no such character, and a test is faster than a replacement.
  if (!SPECIAL_CHARACTER.test(text)) return text
  return text.replace(SPECIAL_CHARACTERS, (character) => ENTITIES[character] ?? showDirectionControls(character))
}

/** Elements without content or an end tag. */
const VOID_TAGS = new Set('area base br col embed hr img input link meta source track wbr'.split(' '))

/**
 * Attributes that are present or absent. Excludes attributes with the value `true` or `false`, such as `aria-expanded`.
 */
const BOOLEAN_ATTRIBUTES = new Set(
  (
    'allowfullscreen async autofocus autoplay checked controls default defer disabled download formnovalidate hidden ' +
    'inert ismap itemscope loop multiple muted nomodule novalidate open playsinline readonly required reversed selected'
  ).split(' '),
)
