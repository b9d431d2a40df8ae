/** Link to a page of the documentation. */
export function docsLink(page: 'frameworks' | 'search' | 'subscribers'): string {
  return `https://github.com/faultboard/faultboard/blob/HEAD/docs/${page}.md`
}
