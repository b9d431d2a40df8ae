/** Short selector of an element without any user input: `form#pay > div.row > button.primary`. */
export function shortSelector(element: Element | null): string {
  const steps: string[] = []
  for (let one = element; one && !steps[2]; one = one.parentElement) {
    const { localName, id, classList } = one
    steps.unshift(localName + (id && `#${id}`) + ['', ...classList].slice(0, 3).join('.'))
  }
  return steps.join(' > ')
}
