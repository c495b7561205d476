// Browsers start no worker from a file, so the search runs in a frame there. Without this file, Zensical asks the network for one.
class FrameWorker {
  constructor(url) {
    this.frame = document.body.appendChild(document.createElement("iframe"));
    this.frame.hidden = true;
    const { contentWindow: inside } = this.frame;
    inside.document.open();
    inside.postMessage = (data) => this.onmessage?.({ data: structuredClone(data) });
    this.started = new Promise((resolve) => (inside.onload = resolve));
    inside.document.write(`<script src="${new URL(url, location)}"><\/script>`);
    inside.document.close();
  }
  postMessage(data) {
    this.started.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data: structuredClone(data) })));
  }
  terminate() {
    this.frame.remove();
  }
}
if (location.protocol === "file:") window.Worker = FrameWorker;
