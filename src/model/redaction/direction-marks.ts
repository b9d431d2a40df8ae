/** Embeddings, overrides and isolates. Marks such as RLM, which ordinary Arabic and Hebrew text uses, stay. */
const DIRECTION_CONTROLS = /[\u202A-\u202E\u2066-\u2069]/g

/**
 * Makes the controls visible that reverse the order of the text around them.
 *
 * @example
 * visibleDirection('invoice\u202Efdp.exe') // 'invoice[U+202E]fdp.exe' instead of 'invoiceexe.pdf'
 */
export function visibleDirection(text: string): string {
  return text.replace(DIRECTION_CONTROLS, (control) => `[U+${control.charCodeAt(0).toString(16).toUpperCase()}]`)
}
