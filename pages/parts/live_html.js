// HTML that changes in place: what is the same stays as it is, so that nothing flickers, a selection survives, and a
// refresh costs the browser little. A click on an element with a data-pick tells the page what was picked. `data` comes from the page's own code, with everything from documents escaped in it.

function morph(now, next) {
  const before = [...now.childNodes];
  const after = [...next.childNodes];
  after.forEach((wanted, index) => {
    const present = before[index];
    if (!present) {
      now.appendChild(wanted);
    } else if (present.nodeName !== wanted.nodeName) {
      present.replaceWith(wanted);
    } else if (present.nodeType === Node.TEXT_NODE) {
      if (present.data !== wanted.data) present.data = wanted.data;
    } else {
      for (const { name, value } of wanted.attributes) {
        if (present.getAttribute(name) !== value) present.setAttribute(name, value);
      }
      for (const { name } of [...present.attributes]) {
        if (!wanted.hasAttribute(name)) present.removeAttribute(name);
      }
      morph(present, wanted);
    }
  });
  before.slice(after.length).forEach((node) => node.remove());
}

export default function ({ data, parentElement, setTriggerValue }) {
  parentElement.onclick = (event) => {
    const chosen = event.target.closest("[data-pick]");
    if (chosen) setTriggerValue("picked", chosen.dataset.pick);
  };
  const wanted = document.createElement("template");
  wanted.innerHTML = `<div class="px-live">${data}</div>`;
  const present = parentElement.querySelector(":scope > .px-live");
  if (present) {
    morph(present, wanted.content.firstElementChild);
  } else {
    parentElement.appendChild(wanted.content);
  }
}
