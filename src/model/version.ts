/** Version of Faultboard, as in package.json. A constant, because a bundled host does not contain that package.json. */
export const VERSION = '0.4.0'
