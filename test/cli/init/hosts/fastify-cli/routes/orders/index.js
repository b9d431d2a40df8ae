'use strict'

module.exports = async function (fastify) {
  fastify.get('/', async function () {
    throw new Error('Could not load orders')
  })
}
