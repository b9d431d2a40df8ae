/** Embeddings, overrides and isolates. Excludes marks that ordinary Arabic and Hebrew text uses, such as RLM. */
const DIRECTION_CONTROLS = /[\u202A-\u202E\u2066-\u2069]/g

/**
 * Makes bidirectional control characters visible, which can reverse the order of the surrounding text.
 * @example showDirectionControls('invoice\u202Efdp.exe') // 'invoice[U+202E]fdp.exe' instead of 'invoiceexe.pdf'
 */
export function showDirectionControls(text: string): string {
  return text.replace(DIRECTION_CONTROLS, (control) => `[U+${control.charCodeAt(0).toString(16).toUpperCase()}]`)
}
