"use strict";

// with the other imports
const path = require("path");
const app = require("express")();
// after app is created, before the routes

require("./orders")(app);

app.use("/static", (request, response) => response.sendFile(path.join(__dirname, "package.json")));
// after the routes, before your own error handlers

module.exports = app;
