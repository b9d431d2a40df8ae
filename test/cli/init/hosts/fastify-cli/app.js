'use strict'

const path = require('node:path')
const AutoLoad = require('@fastify/autoload')
// with the other imports

module.exports.options = {}

module.exports = async function (fastify, opts) {
  // at the start of the exported plugin

  fastify.register(AutoLoad, { dir: path.join(__dirname, 'plugins'), options: { ...opts } })
  fastify.register(AutoLoad, { dir: path.join(__dirname, 'routes'), options: { ...opts } })
}
