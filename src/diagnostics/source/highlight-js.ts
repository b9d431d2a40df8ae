/** Subset of highlight.js in use. The build bundles this subset, because all languages take 9 MB. */
import core from 'highlight.js/lib/core'
import coffeescript from 'highlight.js/lib/languages/coffeescript'
import css from 'highlight.js/lib/languages/css'
import graphql from 'highlight.js/lib/languages/graphql'
import javascript from 'highlight.js/lib/languages/javascript'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'

export { core }
export const languages = { javascript, typescript, xml, css, graphql, coffeescript }
